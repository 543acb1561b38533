-- `name_key` follows `file_name`.
CREATE OR REPLACE FUNCTION "set_file_name_key"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW."name_key" := "file_name_key"(NEW."file_name");
	RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER "files_name_key" BEFORE INSERT OR UPDATE OF "file_name" ON "files" FOR EACH ROW
	EXECUTE FUNCTION "set_file_name_key"();
