ALTER TABLE "file_usage" ADD COLUMN "trashed" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
DROP TRIGGER "files_count_inserted" ON "files";--> statement-breakpoint
DROP TRIGGER "files_count_updated" ON "files";--> statement-breakpoint
DROP TRIGGER "files_count_deleted" ON "files";--> statement-breakpoint
-- As before, a statement that changes files increments the revision of their owners. It also adds what their trash grew by.
-- One owner after the other in one order, so that two statements do not wait for each other.
CREATE OR REPLACE FUNCTION "count_changed_files"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	"owner" record;
BEGIN
	IF TG_OP = 'INSERT' THEN
		FOR "owner" IN
			SELECT "user_id", coalesce(sum("size") FILTER (WHERE "trashed"), 0) AS "growth" FROM "added" GROUP BY "user_id" ORDER BY "user_id"
		LOOP
			UPDATE "file_usage" SET "revision" = "revision" + 1, "trashed" = "trashed" + "owner"."growth" WHERE "user_id" = "owner"."user_id";
		END LOOP;
	ELSIF TG_OP = 'DELETE' THEN
		FOR "owner" IN
			SELECT "user_id", -coalesce(sum("size") FILTER (WHERE "trashed"), 0) AS "growth" FROM "removed" GROUP BY "user_id" ORDER BY "user_id"
		LOOP
			UPDATE "file_usage" SET "revision" = "revision" + 1, "trashed" = "trashed" + "owner"."growth" WHERE "user_id" = "owner"."user_id";
		END LOOP;
	ELSE
		FOR "owner" IN
			SELECT "user_id", coalesce(sum("growth") FILTER (WHERE "trashed"), 0) AS "growth"
			FROM (SELECT "user_id", "trashed", "size" AS "growth" FROM "added" UNION ALL SELECT "user_id", "trashed", -"size" FROM "removed")
			GROUP BY "user_id" ORDER BY "user_id"
		LOOP
			UPDATE "file_usage" SET "revision" = "revision" + 1, "trashed" = "trashed" + "owner"."growth" WHERE "user_id" = "owner"."user_id";
		END LOOP;
	END IF;
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "files_count_inserted" AFTER INSERT ON "files"
	REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_files"();--> statement-breakpoint
CREATE TRIGGER "files_count_updated" AFTER UPDATE ON "files"
	REFERENCING NEW TABLE AS "added" OLD TABLE AS "removed" FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_files"();--> statement-breakpoint
CREATE TRIGGER "files_count_deleted" AFTER DELETE ON "files"
	REFERENCING OLD TABLE AS "removed" FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_files"();--> statement-breakpoint
-- The triggers' lock keeps other writers out until the sums are complete.
UPDATE "file_usage" SET "trashed" = (
	SELECT coalesce(sum("size"), 0) FROM "files" WHERE "files"."user_id" = "file_usage"."user_id" AND "files"."trashed"
) WHERE EXISTS (SELECT FROM "files" WHERE "files"."user_id" = "file_usage"."user_id" AND "files"."trashed");
