-- The links to a file move with it.
CREATE OR REPLACE FUNCTION "move_links_of_file"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE "file_shares" SET "space_key" = NEW."space_key" WHERE "file_id" = NEW."_id";
	RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "files_moved" AFTER UPDATE ON "files" FOR EACH ROW
	WHEN (NEW."space_key" <> OLD."space_key")
	EXECUTE FUNCTION "move_links_of_file"();
