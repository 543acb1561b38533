-- A session or an API key that ends, or is shortened or replaced, ends the live connections that it
-- opened: the commit carries its name to every process that reads the log. The tables themselves stay out
-- of the log, because they hold secrets.
CREATE OR REPLACE FUNCTION "auth"."announce_end"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_logical_emit_message(true, 'realtime.end', TG_ARGV[0] || ':' || OLD."id");
	RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "session_ended" AFTER DELETE ON "auth"."session"
	FOR EACH ROW EXECUTE FUNCTION "auth"."announce_end"('session');

CREATE OR REPLACE TRIGGER "session_shortened" AFTER UPDATE ON "auth"."session" FOR EACH ROW
	WHEN (NEW."expires_at" < OLD."expires_at" OR (NEW."id", NEW."user_id", NEW."token") <> (OLD."id", OLD."user_id", OLD."token"))
	EXECUTE FUNCTION "auth"."announce_end"('session');

CREATE OR REPLACE TRIGGER "apikey_ended" AFTER DELETE ON "auth"."apikey"
	FOR EACH ROW EXECUTE FUNCTION "auth"."announce_end"('key');

CREATE OR REPLACE TRIGGER "apikey_shortened" AFTER UPDATE ON "auth"."apikey" FOR EACH ROW
	WHEN (NOT coalesce(NEW."enabled", false) AND coalesce(OLD."enabled", false)
		OR coalesce(NEW."expires_at", 'infinity') < coalesce(OLD."expires_at", 'infinity')
		OR (NEW."id", NEW."reference_id", NEW."key") <> (OLD."id", OLD."reference_id", OLD."key"))
	EXECUTE FUNCTION "auth"."announce_end"('key');
