-- Live connections end with what they were opened by, whoever ends it: the commit carries the name of the credential, and nothing of what
-- is in it, to every process that reads the log. The tables themselves stay out of the log, because they hold secrets.
CREATE FUNCTION "auth"."announce_end"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_logical_emit_message(true, 'realtime.end', TG_ARGV[0] || ':' || OLD."id");
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "session_ended" AFTER DELETE ON "auth"."session"
	FOR EACH ROW EXECUTE FUNCTION "auth"."announce_end"('session');--> statement-breakpoint
CREATE TRIGGER "session_shortened" AFTER UPDATE ON "auth"."session" FOR EACH ROW
	WHEN (NEW."expires_at" < OLD."expires_at" OR (NEW."id", NEW."user_id", NEW."token") <> (OLD."id", OLD."user_id", OLD."token"))
	EXECUTE FUNCTION "auth"."announce_end"('session');--> statement-breakpoint
CREATE TRIGGER "apikey_ended" AFTER DELETE ON "auth"."apikey"
	FOR EACH ROW EXECUTE FUNCTION "auth"."announce_end"('key');--> statement-breakpoint
CREATE TRIGGER "apikey_shortened" AFTER UPDATE ON "auth"."apikey" FOR EACH ROW
	WHEN (NOT coalesce(NEW."enabled", false) AND coalesce(OLD."enabled", false)
		OR coalesce(NEW."expires_at", 'infinity') < coalesce(OLD."expires_at", 'infinity')
		OR (NEW."id", NEW."reference_id", NEW."key") <> (OLD."id", OLD."reference_id", OLD."key"))
	EXECUTE FUNCTION "auth"."announce_end"('key');--> statement-breakpoint
CREATE FUNCTION "auth"."announce_end_of_all"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_logical_emit_message(true, 'realtime.end', TG_ARGV[0] || ':*');
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "sessions_emptied" AFTER TRUNCATE ON "auth"."session"
	FOR EACH STATEMENT EXECUTE FUNCTION "auth"."announce_end_of_all"('session');--> statement-breakpoint
CREATE TRIGGER "apikeys_emptied" AFTER TRUNCATE ON "auth"."apikey"
	FOR EACH STATEMENT EXECUTE FUNCTION "auth"."announce_end_of_all"('key');--> statement-breakpoint
CREATE FUNCTION "announce_end_of_user"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_logical_emit_message(true, 'realtime.revoke', OLD."clerk_id");
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "user_ended" AFTER DELETE ON "users"
	FOR EACH ROW EXECUTE FUNCTION "announce_end_of_user"();
