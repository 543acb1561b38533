ALTER TABLE "space_invitations" ADD COLUMN "barred" uuid[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
-- As before, and what the person was uploading reserves nothing any more: only they could end it. In the trash a space keeps it, as
-- it can be restored. An upload that is being finished at this moment is refused by the one who finishes it, who has locked it and
-- waits for the membership.
CREATE OR REPLACE FUNCTION "announce_lost_access"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	"lost" text := CASE WHEN TG_OP = 'UPDATE' AND NOT NEW."trashed" THEN 'edit' ELSE 'read' END;
BEGIN
	IF TG_OP = 'DELETE' OR NOT NEW."trashed" THEN
		UPDATE "uploads" SET "reserved" = 0, "expires_at" = 0 WHERE "_id" IN (
			SELECT "_id" FROM "uploads"
			WHERE "user_id" = OLD."user_id" AND "space_id" = OLD."space_id" AND "file_id" IS NULL AND "expires_at" > 0
			ORDER BY "_id" FOR UPDATE SKIP LOCKED
		);
	END IF;
	PERFORM pg_logical_emit_message(true, 'realtime.announce.spaces.lostAccess', "clerk_id" || ' ' || OLD."space_id" || ' ' || "lost")
	FROM "users" WHERE "_id" = OLD."user_id";
	RETURN NULL;
END
$$;--> statement-breakpoint
-- Invitations show the name alone.
CREATE OR REPLACE FUNCTION "describe_changed_space"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE "space_members" SET
		"trashed" = NEW."trashed", "trashed_at" = NEW."trashed_at",
		"space_name" = NEW."name", "space_slug" = NEW."slug", "space_picture_id" = NEW."picture_id"
	WHERE "space_id" = NEW."_id";
	UPDATE "space_invitations" SET "space_name" = NEW."name" WHERE "space_id" = NEW."_id" AND "space_name" <> NEW."name";
	RETURN NULL;
END
$$;
