-- Who pays for what is in a space: its owner. The lock makes a transfer wait until the caller's change is counted, and the second
-- statement sees what was committed while the first one waited.
CREATE FUNCTION "payer_in_space"("space" uuid) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
	"payer" uuid;
BEGIN
	PERFORM 1 FROM "spaces" WHERE "_id" = "space" FOR KEY SHARE;
	SELECT "user_id" INTO "payer" FROM "space_members" WHERE "space_id" = "space" AND "role" = 'owner';
	RETURN "payer";
END
$$;--> statement-breakpoint
-- As before, a statement that changes files increments the revision of who pays for them, and adds what their trash grew by. What
-- personal files take is counted by the program, as the previous version does; what files in spaces take, and what moves between
-- places, is counted here. One payer after the other in one order, so that two statements do not wait for each other.
CREATE OR REPLACE FUNCTION "count_changed_files"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	"sums" record;
BEGIN
	IF TG_OP = 'INSERT' THEN
		FOR "sums" IN
			SELECT "payer", sum("trash") AS "trash", sum("space") AS "used"
			FROM (
				SELECT CASE WHEN "space_id" IS NULL THEN "user_id" ELSE "payer_in_space"("space_id") END AS "payer", "trash", "space"
				FROM (
					SELECT "space_id", CASE WHEN "space_id" IS NULL THEN "user_id" END AS "user_id",
						coalesce(sum("size") FILTER (WHERE "trashed"), 0) AS "trash",
						coalesce(sum("size") FILTER (WHERE "space_id" IS NOT NULL), 0) AS "space"
					FROM "added" GROUP BY 1, 2
				) AS "places"
			) AS "paid" GROUP BY "payer" ORDER BY "payer"
		LOOP
			UPDATE "file_usage" SET "revision" = "revision" + 1, "trashed" = "trashed" + "sums"."trash", "used" = "used" + "sums"."used"
			WHERE "user_id" = "sums"."payer";
		END LOOP;
	ELSIF TG_OP = 'DELETE' THEN
		FOR "sums" IN
			SELECT "payer", sum("trash") AS "trash", sum("space") AS "used"
			FROM (
				SELECT CASE WHEN "space_id" IS NULL THEN "user_id" ELSE "payer_in_space"("space_id") END AS "payer", "trash", "space"
				FROM (
					SELECT "space_id", CASE WHEN "space_id" IS NULL THEN "user_id" END AS "user_id",
						coalesce(sum("size") FILTER (WHERE "trashed"), 0) AS "trash",
						coalesce(sum("size") FILTER (WHERE "space_id" IS NOT NULL), 0) AS "space"
					FROM "removed" GROUP BY 1, 2
				) AS "places"
			) AS "paid" GROUP BY "payer" ORDER BY "payer"
		LOOP
			UPDATE "file_usage" SET "revision" = "revision" + 1, "trashed" = "trashed" - "sums"."trash", "used" = "used" - "sums"."used"
			WHERE "user_id" = "sums"."payer";
		END LOOP;
	ELSE
		FOR "sums" IN
			SELECT "payer", sum("trash") AS "trash", sum("taken") AS "used"
			FROM (
				SELECT CASE WHEN "space_id" IS NULL THEN "user_id" ELSE "payer_in_space"("space_id") END AS "payer", "trash", "taken"
				FROM (
					SELECT "space_id", CASE WHEN "space_id" IS NULL THEN "user_id" END AS "user_id",
						coalesce(sum("growth") FILTER (WHERE "trashed"), 0) AS "trash", sum("growth") AS "taken"
					FROM (
						SELECT "space_id", "user_id", "trashed", "size" AS "growth" FROM "added"
						UNION ALL SELECT "space_id", "user_id", "trashed", -"size" FROM "removed"
					) AS "changes" GROUP BY 1, 2
				) AS "places"
			) AS "paid" GROUP BY "payer" ORDER BY "payer"
		LOOP
			UPDATE "file_usage" SET "revision" = "revision" + 1, "trashed" = "trashed" + "sums"."trash", "used" = "used" + "sums"."used"
			WHERE "user_id" = "sums"."payer";
		END LOOP;
	END IF;
	RETURN NULL;
END
$$;--> statement-breakpoint
-- What uploads into a space have reserved. Personal uploads are counted by the program.
CREATE FUNCTION "count_changed_upload"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	"payer" uuid;
BEGIN
	IF TG_OP <> 'INSERT' AND OLD."space_id" IS NOT NULL THEN
		"payer" := "payer_in_space"(OLD."space_id");
		UPDATE "file_usage" SET "reserved" = "reserved" - OLD."reserved" WHERE "user_id" = "payer";
	END IF;
	IF TG_OP <> 'DELETE' AND NEW."space_id" IS NOT NULL THEN
		"payer" := "payer_in_space"(NEW."space_id");
		UPDATE "file_usage" SET "reserved" = "reserved" + NEW."reserved" WHERE "user_id" = "payer";
	END IF;
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "uploads_count_inserted" AFTER INSERT ON "uploads" FOR EACH ROW
	WHEN (NEW."space_id" IS NOT NULL AND NEW."reserved" > 0)
	EXECUTE FUNCTION "count_changed_upload"();--> statement-breakpoint
CREATE TRIGGER "uploads_count_updated" AFTER UPDATE ON "uploads" FOR EACH ROW
	WHEN (coalesce(NEW."space_id", OLD."space_id") IS NOT NULL
		AND (NEW."space_id", NEW."reserved") IS DISTINCT FROM (OLD."space_id", OLD."reserved"))
	EXECUTE FUNCTION "count_changed_upload"();--> statement-breakpoint
CREATE TRIGGER "uploads_count_deleted" AFTER DELETE ON "uploads" FOR EACH ROW
	WHEN (OLD."space_id" IS NOT NULL AND OLD."reserved" > 0)
	EXECUTE FUNCTION "count_changed_upload"();--> statement-breakpoint
-- With the role of the owner, the sums of the space go to somebody else. The lock waits for changes that are being counted for the
-- previous owner; later ones wait for it, and see the next.
CREATE FUNCTION "hand_over_usage"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	"space" uuid := CASE WHEN TG_OP = 'INSERT' THEN NEW."space_id" ELSE OLD."space_id" END;
	"stored" record;
	"held" bigint;
BEGIN
	PERFORM 1 FROM "spaces" WHERE "_id" = "space" FOR UPDATE;
	SELECT coalesce(sum("size"), 0) AS "used", coalesce(sum("size") FILTER (WHERE "trashed"), 0) AS "trash" INTO "stored"
	FROM "files" WHERE "space_id" = "space";
	SELECT coalesce(sum("reserved"), 0) INTO "held" FROM "uploads" WHERE "space_id" = "space";
	IF "stored"."used" = 0 AND "held" = 0 THEN
		RETURN NULL;
	END IF;
	IF TG_OP <> 'INSERT' AND OLD."role" = 'owner' THEN
		UPDATE "file_usage" SET "revision" = "revision" + 1, "used" = "used" - "stored"."used",
			"trashed" = "trashed" - "stored"."trash", "reserved" = "reserved" - "held"
		WHERE "user_id" = OLD."user_id";
	END IF;
	IF TG_OP <> 'DELETE' AND NEW."role" = 'owner' THEN
		INSERT INTO "file_usage" ("user_id") VALUES (NEW."user_id") ON CONFLICT DO NOTHING;
		UPDATE "file_usage" SET "revision" = "revision" + 1, "used" = "used" + "stored"."used",
			"trashed" = "trashed" + "stored"."trash", "reserved" = "reserved" + "held"
		WHERE "user_id" = NEW."user_id";
	END IF;
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "space_members_pay_inserted" AFTER INSERT ON "space_members" FOR EACH ROW
	WHEN (NEW."role" = 'owner')
	EXECUTE FUNCTION "hand_over_usage"();--> statement-breakpoint
CREATE TRIGGER "space_members_pay_updated" AFTER UPDATE ON "space_members" FOR EACH ROW
	WHEN (NEW."role" <> OLD."role" AND 'owner' IN (NEW."role", OLD."role"))
	EXECUTE FUNCTION "hand_over_usage"();--> statement-breakpoint
CREATE TRIGGER "space_members_pay_deleted" AFTER DELETE ON "space_members" FOR EACH ROW
	WHEN (OLD."role" = 'owner')
	EXECUTE FUNCTION "hand_over_usage"();--> statement-breakpoint
-- Before the members are deleted with the space, while it is known who pays for what was in it.
CREATE FUNCTION "free_usage_of_space"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM "files" WHERE "space_id" = OLD."_id";
	UPDATE "uploads" SET "reserved" = 0, "expires_at" = 0 WHERE "space_id" = OLD."_id";
	RETURN OLD;
END
$$;--> statement-breakpoint
CREATE TRIGGER "spaces_deleted" BEFORE DELETE ON "spaces" FOR EACH ROW
	EXECUTE FUNCTION "free_usage_of_space"();--> statement-breakpoint
-- Ends what is running in the space for somebody who may no longer do it, in every process, at that commit.
CREATE FUNCTION "announce_lost_access"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	"lost" text := CASE WHEN TG_OP = 'UPDATE' AND NOT NEW."trashed" THEN 'edit' ELSE 'read' END;
BEGIN
	PERFORM pg_logical_emit_message(true, 'realtime.announce.spaces.lostAccess', "clerk_id" || ' ' || OLD."space_id" || ' ' || "lost")
	FROM "users" WHERE "_id" = OLD."user_id";
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "space_members_removed" AFTER DELETE ON "space_members" FOR EACH ROW
	EXECUTE FUNCTION "announce_lost_access"();--> statement-breakpoint
CREATE TRIGGER "space_members_lowered" AFTER UPDATE ON "space_members" FOR EACH ROW
	WHEN ((NEW."trashed" AND NOT OLD."trashed") OR (NEW."role" = 'reader' AND OLD."role" <> 'reader'))
	EXECUTE FUNCTION "announce_lost_access"();
