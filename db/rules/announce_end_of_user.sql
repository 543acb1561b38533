-- Deleting a person's record ends their live connections in every process.
CREATE OR REPLACE FUNCTION "announce_end_of_user"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_logical_emit_message(true, 'realtime.revoke', OLD."clerk_id");
	RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "user_ended" AFTER DELETE ON "users"
	FOR EACH ROW EXECUTE FUNCTION "announce_end_of_user"();
