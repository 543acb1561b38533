CREATE TABLE "space_file_revisions" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"space_id" uuid NOT NULL,
	"revision" bigint DEFAULT 1 NOT NULL
);
--> statement-breakpoint
ALTER TABLE "space_file_revisions" ADD CONSTRAINT "space_file_revisions_space_id_spaces__id_fk" FOREIGN KEY ("space_id") REFERENCES "public"."spaces"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "space_file_revisions_by_space_id" ON "space_file_revisions" USING btree ("space_id");--> statement-breakpoint
CREATE UNIQUE INDEX "space_file_revisions_live" ON "space_file_revisions" USING btree ("space_id","_id");--> statement-breakpoint
ALTER TABLE "space_file_revisions" REPLICA IDENTITY USING INDEX "space_file_revisions_live";--> statement-breakpoint
-- A statement that changes files in spaces increments the revision of each. One after the other in one order, so that two
-- statements do not wait for each other.
CREATE FUNCTION "revise_files_of_spaces"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'INSERT' THEN
		INSERT INTO "space_file_revisions" ("space_id")
		SELECT DISTINCT "space_id" FROM "added" WHERE "space_id" IS NOT NULL ORDER BY "space_id"
		ON CONFLICT ("space_id") DO UPDATE SET "revision" = "space_file_revisions"."revision" + 1;
	ELSIF TG_OP = 'DELETE' THEN
		INSERT INTO "space_file_revisions" ("space_id")
		SELECT DISTINCT "space_id" FROM "removed" WHERE "space_id" IS NOT NULL ORDER BY "space_id"
		ON CONFLICT ("space_id") DO UPDATE SET "revision" = "space_file_revisions"."revision" + 1;
	ELSE
		INSERT INTO "space_file_revisions" ("space_id")
		SELECT "space_id" FROM (SELECT "space_id" FROM "added" UNION SELECT "space_id" FROM "removed") AS "changes"
		WHERE "space_id" IS NOT NULL ORDER BY "space_id"
		ON CONFLICT ("space_id") DO UPDATE SET "revision" = "space_file_revisions"."revision" + 1;
	END IF;
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "files_revise_inserted" AFTER INSERT ON "files"
	REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "revise_files_of_spaces"();--> statement-breakpoint
CREATE TRIGGER "files_revise_updated" AFTER UPDATE ON "files"
	REFERENCING NEW TABLE AS "added" OLD TABLE AS "removed" FOR EACH STATEMENT EXECUTE FUNCTION "revise_files_of_spaces"();--> statement-breakpoint
CREATE TRIGGER "files_revise_deleted" AFTER DELETE ON "files"
	REFERENCING OLD TABLE AS "removed" FOR EACH STATEMENT EXECUTE FUNCTION "revise_files_of_spaces"();
