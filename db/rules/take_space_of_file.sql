-- A link to a file is where the file is.
CREATE OR REPLACE FUNCTION "take_space_of_file"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	"key" uuid;
BEGIN
	SELECT "space_key" INTO "key" FROM "files" WHERE "_id" = NEW."file_id" FOR KEY SHARE;
	IF FOUND THEN
		NEW."space_key" := "key";
	END IF;
	RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER "file_shares_space_key" BEFORE INSERT ON "file_shares" FOR EACH ROW
	EXECUTE FUNCTION "take_space_of_file"();
