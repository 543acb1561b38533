ALTER TABLE "file_usage" ADD COLUMN "revision" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "file_usage_live" ON "file_usage" USING btree ("user_id","_id");--> statement-breakpoint
ALTER TABLE "file_usage" REPLICA IDENTITY USING INDEX "file_usage_live";--> statement-breakpoint
-- Whoever changes files, the figures of their owners say so. Locked in one order, so that two statements do not wait for each other.
CREATE FUNCTION "count_changed_files"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM FROM "file_usage" WHERE "user_id" IN (SELECT "user_id" FROM "changed") ORDER BY "user_id" FOR NO KEY UPDATE;
	UPDATE "file_usage" SET "revision" = "revision" + 1 WHERE "user_id" IN (SELECT "user_id" FROM "changed");
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "files_count_inserted" AFTER INSERT ON "files"
	REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_files"();--> statement-breakpoint
CREATE TRIGGER "files_count_updated" AFTER UPDATE ON "files"
	REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_files"();--> statement-breakpoint
CREATE TRIGGER "files_count_deleted" AFTER DELETE ON "files"
	REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_files"();
