-- Whoever suspends somebody: their sessions end at that commit, and their live connections and running
-- requests with them, in every process. Sessions are kept, expired, so that browsers can be told why. The
-- lock makes sessions that are being created wait, so that `refuse_suspended` sees the suspension.
CREATE OR REPLACE FUNCTION "auth"."end_suspended"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM 1 FROM "auth"."user" WHERE "id" = NEW."id" FOR UPDATE;
	UPDATE "auth"."session" SET "expires_at" = now() WHERE "user_id" = NEW."id" AND "expires_at" > now();
	PERFORM pg_logical_emit_message(true, 'realtime.revoke', NEW."id");
	PERFORM pg_logical_emit_message(true, 'realtime.announce.accounts.suspended', NEW."id");
	RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "user_suspended" AFTER UPDATE ON "auth"."user" FOR EACH ROW
	WHEN (NEW."suspended_at" IS NOT NULL AND OLD."suspended_at" IS NULL)
	EXECUTE FUNCTION "auth"."end_suspended"();
