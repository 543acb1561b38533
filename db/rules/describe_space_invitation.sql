-- A new invitation has the space's name. Locked, so that a change of it is not missed.
CREATE OR REPLACE FUNCTION "describe_space_invitation"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	SELECT coalesce(max("name"), '') INTO NEW."space_name"
	FROM (SELECT "name" FROM "spaces" WHERE "_id" = NEW."space_id" FOR SHARE) AS "space";
	RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER "space_invitations_described" BEFORE INSERT ON "space_invitations" FOR EACH ROW
	EXECUTE FUNCTION "describe_space_invitation"();
