-- What a person added to spaces stays there when their account is deleted, no matter who deletes it,
-- under a record that is nobody's. Spaces that they own and that nobody has been chosen for go to the
-- longest standing editor, or else the longest standing reader; those that nobody else is in, and those
-- in the trash, are deleted. The memberships are deleted here, while the record still exists, so that
-- what the person is doing in the spaces ends at that commit.
CREATE OR REPLACE FUNCTION "leave_spaces_of_person"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	"personal" constant uuid := '00000000-0000-0000-0000-000000000000';
	"former" constant uuid := '00000000-0000-0000-0000-000000000001';
	"owned" record;
	"heir" uuid;
BEGIN
	FOR "owned" IN
		SELECT "space_id", "trashed" FROM "space_members" WHERE "user_id" = OLD."_id" AND "role" = 'owner' ORDER BY "space_id"
	LOOP
		"heir" := NULL;
		IF NOT "owned"."trashed" THEN
			SELECT "user_id" INTO "heir" FROM "space_members"
			WHERE "space_id" = "owned"."space_id" AND "user_id" <> OLD."_id"
			ORDER BY "role" = 'reader', "_id" LIMIT 1 FOR UPDATE;
		END IF;
		IF "heir" IS NULL THEN
			DELETE FROM "spaces" WHERE "_id" = "owned"."space_id";
		ELSE
			UPDATE "space_members" SET "role" = 'editor' WHERE "space_id" = "owned"."space_id" AND "user_id" = OLD."_id";
			UPDATE "space_members" SET "role" = 'owner' WHERE "space_id" = "owned"."space_id" AND "user_id" = "heir";
		END IF;
	END LOOP;
	DELETE FROM "space_members" WHERE "user_id" = OLD."_id";
	IF NOT EXISTS (SELECT FROM "files" WHERE "user_id" = OLD."_id" AND "space_id" IS NOT NULL)
		AND NOT EXISTS (SELECT FROM "chat_threads" WHERE "user_id" = OLD."_id" AND "space_id" IS NOT NULL)
		AND NOT EXISTS (SELECT FROM "chat_messages" WHERE "user_id" = OLD."_id" AND "space_key" <> "personal")
		AND NOT EXISTS (
			SELECT FROM "chat_replaced_messages" JOIN "chat_threads" ON "chat_threads"."_id" = "thread_id"
			WHERE "chat_replaced_messages"."user_id" = OLD."_id" AND "space_id" IS NOT NULL
		)
		AND NOT EXISTS (SELECT FROM "space_invitations" WHERE "user_id" = OLD."_id") THEN
		RETURN OLD;
	END IF;
	INSERT INTO "users" ("_id", "clerk_id", "email") VALUES ("former", 'former-member', '') ON CONFLICT DO NOTHING;
	UPDATE "files" SET "user_id" = "former" WHERE "user_id" = OLD."_id" AND "space_id" IS NOT NULL;
	UPDATE "chat_threads" SET "user_id" = "former" WHERE "user_id" = OLD."_id" AND "space_id" IS NOT NULL;
	UPDATE "chat_messages" SET "user_id" = "former" WHERE "user_id" = OLD."_id" AND "space_key" <> "personal";
	UPDATE "chat_turns" SET "user_id" = "former" WHERE "user_id" = OLD."_id" AND "space_key" <> "personal";
	UPDATE "chat_chunks" SET "user_id" = "former" WHERE "user_id" = OLD."_id" AND "space_key" <> "personal";
	UPDATE "chat_replaced_messages" SET "user_id" = "former"
	WHERE "user_id" = OLD."_id" AND "thread_id" IN (SELECT "_id" FROM "chat_threads" WHERE "space_id" IS NOT NULL);
	-- Those of a space that somebody else owns now.
	UPDATE "space_invitations" SET "user_id" = "former" WHERE "user_id" = OLD."_id";
	RETURN OLD;
END
$$;

CREATE OR REPLACE TRIGGER "users_leave_spaces" BEFORE DELETE ON "users" FOR EACH ROW
	WHEN (OLD."_id" <> '00000000-0000-0000-0000-000000000001')
	EXECUTE FUNCTION "leave_spaces_of_person"();
