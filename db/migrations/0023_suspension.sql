-- Widens operator_acts_act.
ALTER TABLE "operator_acts" DROP CONSTRAINT "operator_acts_act";--> statement-breakpoint
ALTER TABLE "auth"."user" ADD COLUMN "suspended_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "operator_acts" ADD CONSTRAINT "operator_acts_act" CHECK ("operator_acts"."act" in ('change-plan', 'sign-out', 'suspend', 'allow', 'make-password-link', 'invite', 'retry-letter', 'drop-letter', 'stop-answer'));--> statement-breakpoint
-- Whoever suspends somebody, their sessions end and their live connections and running requests with them, in every process, at that
-- commit. Sessions are kept, expired, so that their browsers can be told why. Locked for update, the person's row makes sessions that
-- are being created wait, so that the trigger below sees the suspension.
CREATE FUNCTION "auth"."end_suspended"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM 1 FROM "auth"."user" WHERE "id" = NEW."id" FOR UPDATE;
	UPDATE "auth"."session" SET "expires_at" = now() WHERE "user_id" = NEW."id" AND "expires_at" > now();
	PERFORM pg_logical_emit_message(true, 'realtime.revoke', NEW."id");
	PERFORM pg_logical_emit_message(true, 'realtime.announce.accounts.suspended', NEW."id");
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "user_suspended" AFTER UPDATE ON "auth"."user" FOR EACH ROW
	WHEN (NEW."suspended_at" IS NOT NULL AND OLD."suspended_at" IS NULL)
	EXECUTE FUNCTION "auth"."end_suspended"();--> statement-breakpoint
-- For a sign-in or a renewal that runs while somebody is suspended, and for processes of an earlier version. After the check of the
-- reference, which waits for the suspension.
CREATE FUNCTION "auth"."refuse_suspended"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM "auth"."user" WHERE "id" = NEW."user_id" AND "suspended_at" IS NOT NULL) THEN
		RAISE EXCEPTION 'this account is suspended' USING ERRCODE = 'insufficient_privilege';
	END IF;
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "session_of_suspended" AFTER INSERT OR UPDATE ON "auth"."session" FOR EACH ROW
	WHEN (NEW."expires_at" > now())
	EXECUTE FUNCTION "auth"."refuse_suspended"();
