-- No files change between their first count and the rules that go on counting.
DO $$ BEGIN LOCK TABLE "files" IN SHARE ROW EXCLUSIVE MODE; END $$;--> statement-breakpoint
ALTER TABLE "file_usage" ADD COLUMN "files" bigint DEFAULT 0 NOT NULL;
--> statement-breakpoint
-- `file_usage`: a statement that changes files increments the revision of who pays for them, and adds
-- the number of the files and what their trash grew by. What personal files take is counted by the
-- program; what files in spaces take, and what moves between places, is counted here. One payer after
-- the other in one order, so that two statements do not wait for each other.
CREATE OR REPLACE FUNCTION "count_changed_files"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	"sums" record;
BEGIN
	IF TG_OP = 'INSERT' THEN
		FOR "sums" IN
			SELECT "payer", sum("trash") AS "trash", sum("space") AS "used", sum("number") AS "number"
			FROM (
				SELECT CASE WHEN "space_id" IS NULL THEN "user_id" ELSE "payer_in_space"("space_id") END AS "payer", "trash", "space", "number"
				FROM (
					SELECT "space_id", CASE WHEN "space_id" IS NULL THEN "user_id" END AS "user_id",
						coalesce(sum("size") FILTER (WHERE "trashed"), 0) AS "trash",
						coalesce(sum("size") FILTER (WHERE "space_id" IS NOT NULL), 0) AS "space", count(*) AS "number"
					FROM "added" GROUP BY 1, 2
				) AS "places"
			) AS "paid" GROUP BY "payer" ORDER BY "payer"
		LOOP
			UPDATE "file_usage" SET "revision" = "revision" + 1, "trashed" = "trashed" + "sums"."trash", "used" = "used" + "sums"."used",
				"files" = "files" + "sums"."number"
			WHERE "user_id" = "sums"."payer";
		END LOOP;
	ELSIF TG_OP = 'DELETE' THEN
		FOR "sums" IN
			SELECT "payer", sum("trash") AS "trash", sum("space") AS "used", sum("number") AS "number"
			FROM (
				SELECT CASE WHEN "space_id" IS NULL THEN "user_id" ELSE "payer_in_space"("space_id") END AS "payer", "trash", "space", "number"
				FROM (
					SELECT "space_id", CASE WHEN "space_id" IS NULL THEN "user_id" END AS "user_id",
						coalesce(sum("size") FILTER (WHERE "trashed"), 0) AS "trash",
						coalesce(sum("size") FILTER (WHERE "space_id" IS NOT NULL), 0) AS "space", count(*) AS "number"
					FROM "removed" GROUP BY 1, 2
				) AS "places"
			) AS "paid" GROUP BY "payer" ORDER BY "payer"
		LOOP
			UPDATE "file_usage" SET "revision" = "revision" + 1, "trashed" = "trashed" - "sums"."trash", "used" = "used" - "sums"."used",
				"files" = "files" - "sums"."number"
			WHERE "user_id" = "sums"."payer";
		END LOOP;
	ELSE
		FOR "sums" IN
			SELECT "payer", sum("trash") AS "trash", sum("taken") AS "used", sum("number") AS "number"
			FROM (
				SELECT CASE WHEN "space_id" IS NULL THEN "user_id" ELSE "payer_in_space"("space_id") END AS "payer", "trash", "taken", "number"
				FROM (
					SELECT "space_id", CASE WHEN "space_id" IS NULL THEN "user_id" END AS "user_id",
						coalesce(sum("growth") FILTER (WHERE "trashed"), 0) AS "trash", sum("growth") AS "taken", sum("one") AS "number"
					FROM (
						SELECT "space_id", "user_id", "trashed", "size" AS "growth", 1 AS "one" FROM "added"
						UNION ALL SELECT "space_id", "user_id", "trashed", -"size", -1 FROM "removed"
					) AS "changes" GROUP BY 1, 2
				) AS "places"
			) AS "paid" GROUP BY "payer" ORDER BY "payer"
		LOOP
			UPDATE "file_usage" SET "revision" = "revision" + 1, "trashed" = "trashed" + "sums"."trash", "used" = "used" + "sums"."used",
				"files" = "files" + "sums"."number"
			WHERE "user_id" = "sums"."payer";
		END LOOP;
	END IF;
	RETURN NULL;
END
$$;
--> statement-breakpoint
-- With the role of the owner, the sums of the space go to somebody else. The lock waits for changes that
-- are being counted for the previous owner; later ones wait for it, and see the next.
CREATE OR REPLACE FUNCTION "hand_over_usage"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	"space" uuid := CASE WHEN TG_OP = 'INSERT' THEN NEW."space_id" ELSE OLD."space_id" END;
	"stored" record;
	"held" bigint;
BEGIN
	PERFORM 1 FROM "spaces" WHERE "_id" = "space" FOR UPDATE;
	SELECT count(*) AS "number", coalesce(sum("size"), 0) AS "used", coalesce(sum("size") FILTER (WHERE "trashed"), 0) AS "trash" INTO "stored"
	FROM "files" WHERE "space_id" = "space";
	SELECT coalesce(sum("reserved"), 0) INTO "held" FROM "uploads" WHERE "space_id" = "space";
	IF "stored"."number" = 0 AND "held" = 0 THEN
		RETURN NULL;
	END IF;
	IF TG_OP <> 'INSERT' AND OLD."role" = 'owner' THEN
		UPDATE "file_usage" SET "revision" = "revision" + 1, "used" = "used" - "stored"."used",
			"trashed" = "trashed" - "stored"."trash", "reserved" = "reserved" - "held", "files" = "files" - "stored"."number"
		WHERE "user_id" = OLD."user_id";
	END IF;
	IF TG_OP <> 'DELETE' AND NEW."role" = 'owner' THEN
		INSERT INTO "file_usage" ("user_id") VALUES (NEW."user_id") ON CONFLICT DO NOTHING;
		UPDATE "file_usage" SET "revision" = "revision" + 1, "used" = "used" + "stored"."used",
			"trashed" = "trashed" + "stored"."trash", "reserved" = "reserved" + "held", "files" = "files" + "stored"."number"
		WHERE "user_id" = NEW."user_id";
	END IF;
	RETURN NULL;
END
$$;
--> statement-breakpoint
UPDATE "file_usage" SET "files" = "counted"."number"
FROM (
	SELECT CASE WHEN "files"."space_id" IS NULL THEN "files"."user_id" ELSE "owners"."user_id" END AS "payer", count(*) AS "number"
	FROM "files"
	LEFT JOIN "space_members" AS "owners" ON "owners"."space_id" = "files"."space_id" AND "owners"."role" = 'owner'
	GROUP BY 1
) AS "counted"
WHERE "file_usage"."user_id" = "counted"."payer";
