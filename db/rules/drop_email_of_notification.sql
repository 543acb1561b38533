-- An email that has not been sent goes with the last notification that it is about in one conversation.
-- What it says of other conversations is due again. A row that somebody else is changing is left to them:
-- waiting could become a deadlock.
CREATE OR REPLACE FUNCTION "drop_email_of_notification"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM "mail_outbox"
	WHERE "kind" = 'mention' AND "cause" = OLD."email_cause" AND "state" <> 'sent'
		AND NOT EXISTS (
			SELECT FROM "notifications"
			WHERE "thread_id" = OLD."thread_id" AND "user_id" = OLD."user_id" AND "email_cause" = OLD."email_cause" AND NOT "trashed"
		);
	IF FOUND THEN
		UPDATE "notifications" SET "email_cause" = NULL, "email_at" = (extract(epoch from clock_timestamp()) * 1000)::bigint
		WHERE "_id" IN (
			SELECT "_id" FROM "notifications"
			WHERE "user_id" = OLD."user_id" AND "email_cause" = OLD."email_cause" AND NOT "read" AND "thread_id" <> OLD."thread_id"
			FOR UPDATE SKIP LOCKED
		);
	END IF;
	RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "notifications_drop_email" AFTER DELETE ON "notifications" FOR EACH ROW
	WHEN (OLD."email_cause" IS NOT NULL)
	EXECUTE FUNCTION "drop_email_of_notification"();

CREATE OR REPLACE TRIGGER "notifications_hide_email" AFTER UPDATE ON "notifications" FOR EACH ROW
	WHEN (NEW."trashed" AND NOT OLD."trashed" AND OLD."email_cause" IS NOT NULL)
	EXECUTE FUNCTION "drop_email_of_notification"();
