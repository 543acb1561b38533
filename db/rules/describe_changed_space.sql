-- Members have what lists show of their space, and whether it is in the trash. Invitations have its name
-- alone.
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

CREATE OR REPLACE TRIGGER "spaces_changed" AFTER UPDATE ON "spaces" FOR EACH ROW
	WHEN (NEW IS DISTINCT FROM OLD)
	EXECUTE FUNCTION "describe_changed_space"();
