CREATE TABLE "auth"."security_event" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"user_id" text NOT NULL,
	"event" text NOT NULL,
	"way" text,
	"facts" jsonb,
	"address" text,
	"user_agent" text,
	"operator_act_id" uuid,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "auth"."security_event" ADD CONSTRAINT "security_event_user_id_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "auth"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "security_event_by_user_id" ON "auth"."security_event" USING btree ("user_id","_id");--> statement-breakpoint
CREATE INDEX "security_event_by_expires_at" ON "auth"."security_event" USING btree ("expires_at");--> statement-breakpoint
-- The security log stays as it was written. An entry goes when it expires, and all of a person's go with the account, which is gone by
-- the time the reference deletes them.
CREATE FUNCTION "auth"."keep_security_events"() RETURNS trigger LANGUAGE plpgsql AS $$
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
$$;--> statement-breakpoint
CREATE TRIGGER "security_event_keep" BEFORE UPDATE OR DELETE ON "auth"."security_event"
	FOR EACH ROW EXECUTE FUNCTION "auth"."keep_security_events"();--> statement-breakpoint
CREATE TRIGGER "security_event_keep_all" BEFORE TRUNCATE ON "auth"."security_event"
	FOR EACH STATEMENT EXECUTE FUNCTION "auth"."keep_security_events"();
