-- Notifications are hidden in the commit that moves their space to the trash, and shown again in the one
-- that restores it.
CREATE OR REPLACE FUNCTION "hide_notifications_of_member"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE "notifications" SET "trashed" = NEW."trashed" OR "chat_threads"."trashed"
	FROM "chat_threads"
	WHERE "notifications"."space_id" = NEW."space_id" AND "notifications"."user_id" = NEW."user_id"
		AND "chat_threads"."_id" = "notifications"."thread_id";
	RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "space_members_hide_notifications" AFTER UPDATE ON "space_members" FOR EACH ROW
	WHEN (NEW."trashed" <> OLD."trashed")
	EXECUTE FUNCTION "hide_notifications_of_member"();
