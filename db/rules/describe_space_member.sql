-- A new membership has what lists show of the space and of the person. Both are locked, so that a change
-- is not missed.
CREATE OR REPLACE FUNCTION "describe_space_member"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	"space" record;
	"person" record;
BEGIN
	SELECT * INTO "space" FROM "spaces" WHERE "_id" = NEW."space_id" FOR SHARE;
	SELECT * INTO "person" FROM "users" WHERE "_id" = NEW."user_id" FOR SHARE;
	NEW."trashed" := coalesce("space"."trashed", false);
	NEW."trashed_at" := "space"."trashed_at";
	NEW."space_name" := coalesce("space"."name", '');
	NEW."space_slug" := coalesce("space"."slug", '');
	NEW."space_picture_id" := "space"."picture_id";
	NEW."member_name" := "person"."name";
	NEW."member_email" := coalesce("person"."email", '');
	NEW."member_image_url" := "person"."image_url";
	RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER "space_members_described" BEFORE INSERT ON "space_members" FOR EACH ROW
	EXECUTE FUNCTION "describe_space_member"();
