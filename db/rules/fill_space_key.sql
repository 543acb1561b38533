-- `space_key` is `space_id`, or the id for what is personal. Not called for what is personal already.
CREATE OR REPLACE FUNCTION "fill_space_key"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW."space_key" := coalesce(NEW."space_id", '00000000-0000-0000-0000-000000000000');
	RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER "chat_threads_space_key" BEFORE INSERT OR UPDATE ON "chat_threads" FOR EACH ROW
	WHEN (NEW."space_key" <> coalesce(NEW."space_id", '00000000-0000-0000-0000-000000000000'))
	EXECUTE FUNCTION "fill_space_key"();

CREATE OR REPLACE TRIGGER "files_space_key" BEFORE INSERT OR UPDATE ON "files" FOR EACH ROW
	WHEN (NEW."space_key" <> coalesce(NEW."space_id", '00000000-0000-0000-0000-000000000000'))
	EXECUTE FUNCTION "fill_space_key"();
