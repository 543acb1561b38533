-- A message of a deleted person stays under a record that is nobody's, and the notification of it without
-- a name.
CREATE OR REPLACE FUNCTION "forget_author_of_notifications"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE "notifications" SET "author_id" = NULL, "author_name" = NULL WHERE "author_id" = OLD."_id";
	RETURN OLD;
END
$$;

CREATE OR REPLACE TRIGGER "users_forget_author_of_notifications" BEFORE DELETE ON "users" FOR EACH ROW
	EXECUTE FUNCTION "forget_author_of_notifications"();
