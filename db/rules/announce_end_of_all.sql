-- The same when a table of sessions or keys is emptied.
CREATE OR REPLACE FUNCTION "auth"."announce_end_of_all"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_logical_emit_message(true, 'realtime.end', TG_ARGV[0] || ':*');
	RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "sessions_emptied" AFTER TRUNCATE ON "auth"."session"
	FOR EACH STATEMENT EXECUTE FUNCTION "auth"."announce_end_of_all"('session');

CREATE OR REPLACE TRIGGER "apikeys_emptied" AFTER TRUNCATE ON "auth"."apikey"
	FOR EACH STATEMENT EXECUTE FUNCTION "auth"."announce_end_of_all"('key');
