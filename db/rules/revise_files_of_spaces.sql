-- `space_file_revisions`: a statement that changes files in spaces increments the revision of each. One
-- after the other in one order, so that two statements do not wait for each other.
CREATE OR REPLACE FUNCTION "revise_files_of_spaces"() RETURNS trigger LANGUAGE plpgsql AS $$
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
$$;

CREATE OR REPLACE TRIGGER "files_revise_inserted" AFTER INSERT ON "files"
	REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "revise_files_of_spaces"();

CREATE OR REPLACE TRIGGER "files_revise_updated" AFTER UPDATE ON "files"
	REFERENCING NEW TABLE AS "added" OLD TABLE AS "removed" FOR EACH STATEMENT EXECUTE FUNCTION "revise_files_of_spaces"();

CREATE OR REPLACE TRIGGER "files_revise_deleted" AFTER DELETE ON "files"
	REFERENCING OLD TABLE AS "removed" FOR EACH STATEMENT EXECUTE FUNCTION "revise_files_of_spaces"();
