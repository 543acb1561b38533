-- No session of a suspended person begins or is renewed, not even by a sign-in that runs at that moment
-- or by a process of an earlier version. After the check of the reference, which waits for the
-- suspension.
CREATE OR REPLACE FUNCTION "auth"."refuse_suspended"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM "auth"."user" WHERE "id" = NEW."user_id" AND "suspended_at" IS NOT NULL) THEN
		RAISE EXCEPTION 'this account is suspended' USING ERRCODE = 'insufficient_privilege';
	END IF;
	RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "session_of_suspended" AFTER INSERT OR UPDATE ON "auth"."session" FOR EACH ROW
	WHEN (NEW."expires_at" > now())
	EXECUTE FUNCTION "auth"."refuse_suspended"();
