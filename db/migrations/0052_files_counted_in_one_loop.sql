-- `file_usage`: a statement that changes files increments the revision of who pays for them, and adds
-- the number of the files and what their trash grew by. What personal files take is counted by the
-- program; what files in spaces take, and what moves between places, is counted here. One payer after
-- the other in one order, so that two statements do not wait for each other.
CREATE OR REPLACE FUNCTION "count_changed_files"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	-- A statement sees only the transition tables of its trigger: what each place has got, and what it has lost.
	"got" jsonb;
	"lost" jsonb;
	"sums" record;
BEGIN
	IF TG_OP <> 'DELETE' THEN
		SELECT jsonb_agg("place") INTO "got" FROM (
			SELECT "space_id", CASE WHEN "space_id" IS NULL THEN "user_id" END AS "user_id",
				sum("size") FILTER (WHERE "trashed") AS "trash", sum("size") AS "taken", count(*) AS "number"
			FROM "added" GROUP BY 1, 2
		) AS "place";
	END IF;
	IF TG_OP <> 'INSERT' THEN
		SELECT jsonb_agg("place") INTO "lost" FROM (
			SELECT "space_id", CASE WHEN "space_id" IS NULL THEN "user_id" END AS "user_id",
				-sum("size") FILTER (WHERE "trashed") AS "trash", -sum("size") AS "taken", -count(*) AS "number"
			FROM "removed" GROUP BY 1, 2
		) AS "place";
	END IF;
	FOR "sums" IN
		SELECT CASE WHEN "space_id" IS NULL THEN "user_id" ELSE "payer_in_space"("space_id") END AS "payer",
			coalesce(sum("trash"), 0) AS "trash", sum("number") AS "number",
			coalesce(sum("taken") FILTER (WHERE TG_OP = 'UPDATE' OR "space_id" IS NOT NULL), 0) AS "used"
		FROM jsonb_to_recordset(coalesce("got", '[]') || coalesce("lost", '[]'))
			AS "places" ("space_id" uuid, "user_id" uuid, "trash" bigint, "taken" bigint, "number" bigint)
		GROUP BY 1 ORDER BY 1
	LOOP
		UPDATE "file_usage" SET "revision" = "revision" + 1, "trashed" = "trashed" + "sums"."trash", "used" = "used" + "sums"."used",
			"files" = "files" + "sums"."number"
		WHERE "user_id" = "sums"."payer";
	END LOOP;
	RETURN NULL;
END
$$;
