-- `file_usage`: what uploads into a space have reserved. Personal uploads are counted by the program.
CREATE OR REPLACE FUNCTION "count_changed_upload"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	"payer" uuid;
BEGIN
	IF TG_OP <> 'INSERT' AND OLD."space_id" IS NOT NULL THEN
		"payer" := "payer_in_space"(OLD."space_id");
		UPDATE "file_usage" SET "reserved" = "reserved" - OLD."reserved" WHERE "user_id" = "payer";
	END IF;
	IF TG_OP <> 'DELETE' AND NEW."space_id" IS NOT NULL THEN
		"payer" := "payer_in_space"(NEW."space_id");
		UPDATE "file_usage" SET "reserved" = "reserved" + NEW."reserved" WHERE "user_id" = "payer";
	END IF;
	RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "uploads_count_inserted" AFTER INSERT ON "uploads" FOR EACH ROW
	WHEN (NEW."space_id" IS NOT NULL AND NEW."reserved" > 0)
	EXECUTE FUNCTION "count_changed_upload"();

CREATE OR REPLACE TRIGGER "uploads_count_updated" AFTER UPDATE ON "uploads" FOR EACH ROW
	WHEN (coalesce(NEW."space_id", OLD."space_id") IS NOT NULL
		AND (NEW."space_id", NEW."reserved") IS DISTINCT FROM (OLD."space_id", OLD."reserved"))
	EXECUTE FUNCTION "count_changed_upload"();

CREATE OR REPLACE TRIGGER "uploads_count_deleted" AFTER DELETE ON "uploads" FOR EACH ROW
	WHEN (OLD."space_id" IS NOT NULL AND OLD."reserved" > 0)
	EXECUTE FUNCTION "count_changed_upload"();
