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

CREATE OR REPLACE TRIGGER "files_count_inserted" AFTER INSERT ON "files"
	REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_files"();

CREATE OR REPLACE TRIGGER "files_count_updated" AFTER UPDATE ON "files"
	REFERENCING NEW TABLE AS "added" OLD TABLE AS "removed" FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_files"();

CREATE OR REPLACE TRIGGER "files_count_deleted" AFTER DELETE ON "files"
	REFERENCING OLD TABLE AS "removed" FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_files"();
