-- Members are shown with the name, the address and the picture of the person.
CREATE OR REPLACE FUNCTION "describe_changed_person"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE "space_members" SET
		"member_name" = NEW."name", "member_email" = NEW."email", "member_image_url" = NEW."image_url"
	WHERE "user_id" = NEW."_id";
	RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "users_changed" AFTER UPDATE ON "users" FOR EACH ROW
	WHEN ((NEW."name", NEW."email", NEW."image_url") IS DISTINCT FROM (OLD."name", OLD."email", OLD."image_url"))
	EXECUTE FUNCTION "describe_changed_person"();
