-- Whoever leaves a space, is removed from it, becomes a reader of it, or whose space goes to the trash,
-- loses what they are doing there at that commit: requests end in every process. An upload of theirs
-- reserves nothing any more (`reserved` and `expires_at` are 0), unless the space is in the trash, from
-- which it can be restored. An upload that is being finished at this moment is locked, and is refused by
-- the one who finishes it, who waits for the membership.
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
$$;

CREATE OR REPLACE TRIGGER "space_members_removed" AFTER DELETE ON "space_members" FOR EACH ROW
	EXECUTE FUNCTION "announce_lost_access"();

CREATE OR REPLACE TRIGGER "space_members_lowered" AFTER UPDATE ON "space_members" FOR EACH ROW
	WHEN ((NEW."trashed" AND NOT OLD."trashed") OR (NEW."role" = 'reader' AND OLD."role" <> 'reader'))
	EXECUTE FUNCTION "announce_lost_access"();
