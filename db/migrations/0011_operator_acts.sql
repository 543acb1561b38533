CREATE TABLE "operator_acts" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"act" text NOT NULL,
	"operator_id" text,
	"operator_email" text,
	"subject_id" text,
	"subject_email" text,
	"detail" text,
	CONSTRAINT "operator_acts_act" CHECK ("operator_acts"."act" in ('change-plan', 'sign-out', 'invite', 'retry-letter', 'drop-letter', 'stop-answer'))
);
--> statement-breakpoint
-- What operators did stays as it was written. Only a person can be taken out of it, when their account is deleted.
CREATE FUNCTION "keep_operator_acts"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'UPDATE'
		AND (NEW."_id", NEW."_creation_time", NEW."act", NEW."detail")
			IS NOT DISTINCT FROM (OLD."_id", OLD."_creation_time", OLD."act", OLD."detail")
		AND (NEW."operator_id" IS NULL OR NEW."operator_id" IS NOT DISTINCT FROM OLD."operator_id")
		AND (NEW."operator_email" IS NULL OR NEW."operator_email" IS NOT DISTINCT FROM OLD."operator_email")
		AND (NEW."subject_id" IS NULL OR NEW."subject_id" IS NOT DISTINCT FROM OLD."subject_id")
		AND (NEW."subject_email" IS NULL OR NEW."subject_email" IS NOT DISTINCT FROM OLD."subject_email")
	THEN
		RETURN NEW;
	END IF;
	RAISE EXCEPTION 'operator_acts is only added to' USING ERRCODE = 'restrict_violation';
END
$$;--> statement-breakpoint
CREATE TRIGGER "operator_acts_keep" BEFORE UPDATE OR DELETE ON "operator_acts"
	FOR EACH ROW EXECUTE FUNCTION "keep_operator_acts"();--> statement-breakpoint
CREATE TRIGGER "operator_acts_keep_all" BEFORE TRUNCATE ON "operator_acts"
	FOR EACH STATEMENT EXECUTE FUNCTION "keep_operator_acts"();
