CREATE TABLE "notifications" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"user_id" uuid NOT NULL,
	"space_id" uuid NOT NULL,
	"thread_id" uuid NOT NULL,
	"message_id" uuid NOT NULL,
	"author_id" uuid,
	"author_name" text,
	"excerpt" text NOT NULL,
	"read" boolean DEFAULT false NOT NULL,
	"in_app" boolean NOT NULL,
	"trashed" boolean DEFAULT false NOT NULL,
	"email_at" bigint,
	"email_cause" text
);
--> statement-breakpoint
ALTER TABLE "chat_messages" ADD COLUMN "mentions" jsonb;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "notifies_in_app" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "notifies_by_email" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_thread_id_chat_threads__id_fk" FOREIGN KEY ("thread_id") REFERENCES "public"."chat_threads"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_message_id_chat_messages__id_fk" FOREIGN KEY ("message_id") REFERENCES "public"."chat_messages"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_author_id_users__id_fk" FOREIGN KEY ("author_id") REFERENCES "public"."users"("_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_membership" FOREIGN KEY ("space_id","user_id") REFERENCES "public"."space_members"("space_id","user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "notifications_live" ON "notifications" USING btree ("user_id","in_app","trashed","read","_id");--> statement-breakpoint
CREATE INDEX "notifications_by_membership" ON "notifications" USING btree ("space_id","user_id");--> statement-breakpoint
CREATE INDEX "notifications_by_thread_id" ON "notifications" USING btree ("thread_id");--> statement-breakpoint
CREATE INDEX "notifications_by_message_id" ON "notifications" USING btree ("message_id");--> statement-breakpoint
CREATE INDEX "notifications_by_author_id" ON "notifications" USING btree ("author_id");--> statement-breakpoint
CREATE INDEX "notifications_due" ON "notifications" USING btree ("email_at") WHERE "notifications"."email_at" is not null;--> statement-breakpoint
ALTER TABLE "notifications" REPLICA IDENTITY USING INDEX "notifications_live";--> statement-breakpoint
-- Notifications are hidden in the commit that moves their space or their conversation to the trash.
CREATE FUNCTION "hide_notifications_of_member"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE "notifications" SET "trashed" = NEW."trashed" OR "chat_threads"."trashed"
	FROM "chat_threads"
	WHERE "notifications"."space_id" = NEW."space_id" AND "notifications"."user_id" = NEW."user_id"
		AND "chat_threads"."_id" = "notifications"."thread_id";
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "space_members_hide_notifications" AFTER UPDATE ON "space_members" FOR EACH ROW
	WHEN (NEW."trashed" <> OLD."trashed")
	EXECUTE FUNCTION "hide_notifications_of_member"();--> statement-breakpoint
-- Whoever was mentioned may not be where a conversation is moved to.
CREATE FUNCTION "hide_notifications_of_thread"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NEW."space_key" <> OLD."space_key" THEN
		DELETE FROM "notifications" WHERE "thread_id" = NEW."_id";
	ELSE
		UPDATE "notifications" SET "trashed" = NEW."trashed" OR "space_members"."trashed"
		FROM "space_members"
		WHERE "notifications"."thread_id" = NEW."_id" AND "space_members"."space_id" = "notifications"."space_id"
			AND "space_members"."user_id" = "notifications"."user_id";
	END IF;
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "chat_threads_hide_notifications" AFTER UPDATE ON "chat_threads" FOR EACH ROW
	WHEN (NEW."space_key" <> OLD."space_key" OR NEW."trashed" <> OLD."trashed")
	EXECUTE FUNCTION "hide_notifications_of_thread"();--> statement-breakpoint
-- An email that has not been sent goes with the last notification that it is about.
CREATE FUNCTION "drop_email_of_notification"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM "mail_outbox"
	WHERE "kind" = 'mention' AND "cause" = OLD."email_cause" AND "state" <> 'sent'
		AND NOT EXISTS (
			SELECT FROM "notifications"
			WHERE "thread_id" = OLD."thread_id" AND "user_id" = OLD."user_id" AND "email_cause" = OLD."email_cause" AND NOT "trashed"
		);
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "notifications_drop_email" AFTER DELETE ON "notifications" FOR EACH ROW
	WHEN (OLD."email_cause" IS NOT NULL)
	EXECUTE FUNCTION "drop_email_of_notification"();--> statement-breakpoint
CREATE TRIGGER "notifications_hide_email" AFTER UPDATE ON "notifications" FOR EACH ROW
	WHEN (NEW."trashed" AND NOT OLD."trashed" AND OLD."email_cause" IS NOT NULL)
	EXECUTE FUNCTION "drop_email_of_notification"();--> statement-breakpoint
-- The message stays under a record that is nobody's, and the notification of it without a name.
CREATE FUNCTION "forget_author_of_notifications"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE "notifications" SET "author_id" = NULL, "author_name" = NULL WHERE "author_id" = OLD."_id";
	RETURN OLD;
END
$$;--> statement-breakpoint
CREATE TRIGGER "users_forget_author_of_notifications" BEFORE DELETE ON "users" FOR EACH ROW
	EXECUTE FUNCTION "forget_author_of_notifications"();
