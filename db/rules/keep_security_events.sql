-- The security log stays as it was written. An entry goes when it expires, and all of a person's go with
-- the account, which is gone by the time the reference deletes them.
CREATE OR REPLACE FUNCTION "auth"."keep_security_events"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'DELETE' THEN
		IF OLD."expires_at" <= extract(epoch from statement_timestamp()) * 1000
			OR NOT EXISTS (SELECT FROM "auth"."user" WHERE "id" = OLD."user_id")
		THEN
			RETURN OLD;
		END IF;
	END IF;
	RAISE EXCEPTION 'the security log is only added to' USING ERRCODE = 'restrict_violation';
END
$$;

CREATE OR REPLACE TRIGGER "security_event_keep" BEFORE UPDATE OR DELETE ON "auth"."security_event"
	FOR EACH ROW EXECUTE FUNCTION "auth"."keep_security_events"();

CREATE OR REPLACE TRIGGER "security_event_keep_all" BEFORE TRUNCATE ON "auth"."security_event"
	FOR EACH STATEMENT EXECUTE FUNCTION "auth"."keep_security_events"();
