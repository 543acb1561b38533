-- The same for a conversation. One that moves to another place loses its notifications: those who were
-- mentioned may not be there.
CREATE OR REPLACE FUNCTION "hide_notifications_of_thread"() RETURNS trigger LANGUAGE plpgsql AS $$
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
$$;

CREATE OR REPLACE TRIGGER "chat_threads_hide_notifications" AFTER UPDATE ON "chat_threads" FOR EACH ROW
	WHEN (NEW."space_key" <> OLD."space_key" OR NEW."trashed" <> OLD."trashed")
	EXECUTE FUNCTION "hide_notifications_of_thread"();
