-- With the role of the owner, the sums of the space go to somebody else. The lock waits for changes that
-- are being counted for the previous owner; later ones wait for it, and see the next.
CREATE OR REPLACE FUNCTION "hand_over_usage"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	"space" uuid := CASE WHEN TG_OP = 'INSERT' THEN NEW."space_id" ELSE OLD."space_id" END;
	"stored" record;
	"held" bigint;
BEGIN
	PERFORM 1 FROM "spaces" WHERE "_id" = "space" FOR UPDATE;
	SELECT count(*) AS "number", coalesce(sum("size"), 0) AS "used", coalesce(sum("size") FILTER (WHERE "trashed"), 0) AS "trash" INTO "stored"
	FROM "files" WHERE "space_id" = "space";
	SELECT coalesce(sum("reserved"), 0) INTO "held" FROM "uploads" WHERE "space_id" = "space";
	IF "stored"."number" = 0 AND "held" = 0 THEN
		RETURN NULL;
	END IF;
	IF TG_OP <> 'INSERT' AND OLD."role" = 'owner' THEN
		UPDATE "file_usage" SET "revision" = "revision" + 1, "used" = "used" - "stored"."used",
			"trashed" = "trashed" - "stored"."trash", "reserved" = "reserved" - "held", "files" = "files" - "stored"."number"
		WHERE "user_id" = OLD."user_id";
	END IF;
	IF TG_OP <> 'DELETE' AND NEW."role" = 'owner' THEN
		INSERT INTO "file_usage" ("user_id") VALUES (NEW."user_id") ON CONFLICT DO NOTHING;
		UPDATE "file_usage" SET "revision" = "revision" + 1, "used" = "used" + "stored"."used",
			"trashed" = "trashed" + "stored"."trash", "reserved" = "reserved" + "held", "files" = "files" + "stored"."number"
		WHERE "user_id" = NEW."user_id";
	END IF;
	RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "space_members_pay_inserted" AFTER INSERT ON "space_members" FOR EACH ROW
	WHEN (NEW."role" = 'owner')
	EXECUTE FUNCTION "hand_over_usage"();

CREATE OR REPLACE TRIGGER "space_members_pay_updated" AFTER UPDATE ON "space_members" FOR EACH ROW
	WHEN (NEW."role" <> OLD."role" AND 'owner' IN (NEW."role", OLD."role"))
	EXECUTE FUNCTION "hand_over_usage"();

CREATE OR REPLACE TRIGGER "space_members_pay_deleted" AFTER DELETE ON "space_members" FOR EACH ROW
	WHEN (OLD."role" = 'owner')
	EXECUTE FUNCTION "hand_over_usage"();
