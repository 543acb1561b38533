-- Who pays for what is in a space: its owner. The lock makes a transfer wait until the caller's change is
-- counted, and the second statement sees what was committed while the first one waited.
CREATE OR REPLACE FUNCTION "payer_in_space"("space" uuid) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
	"payer" uuid;
BEGIN
	PERFORM 1 FROM "spaces" WHERE "_id" = "space" FOR KEY SHARE;
	SELECT "user_id" INTO "payer" FROM "space_members" WHERE "space_id" = "space" AND "role" = 'owner';
	RETURN "payer";
END
$$;
