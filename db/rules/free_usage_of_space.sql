-- Files and uploads of a deleted space go before its members do, while it is known who pays for them.
CREATE OR REPLACE FUNCTION "free_usage_of_space"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM "files" WHERE "space_id" = OLD."_id";
	UPDATE "uploads" SET "reserved" = 0, "expires_at" = 0 WHERE "space_id" = OLD."_id";
	RETURN OLD;
END
$$;

CREATE OR REPLACE TRIGGER "spaces_deleted" BEFORE DELETE ON "spaces" FOR EACH ROW
	EXECUTE FUNCTION "free_usage_of_space"();
