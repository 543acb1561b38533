ALTER TABLE "operator_acts" ADD COLUMN "facts" jsonb;--> statement-breakpoint
-- Before the trigger below guards this column as well.
UPDATE "operator_acts" SET "facts" = CASE
	WHEN "act" = 'change-plan' AND "detail" ~ '^from (free|pro) to (free|pro)$' THEN
		jsonb_build_object('plans', jsonb_build_object('previous', split_part("detail", ' ', 2), 'next', split_part("detail", ' ', 4)))
	WHEN "act" = 'retry-letter' AND "detail" ~ '^\d+ that (was|were) parked$' THEN
		jsonb_build_object('emails', split_part("detail", ' ', 1)::int)
	WHEN "act" IN ('retry-letter', 'drop-letter') THEN jsonb_build_object('emailKind', "detail")
END
WHERE "detail" IS NOT NULL;--> statement-breakpoint
CREATE OR REPLACE FUNCTION "keep_operator_acts"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'UPDATE'
		AND (NEW."_id", NEW."_creation_time", NEW."act", NEW."detail", NEW."facts")
			IS NOT DISTINCT FROM (OLD."_id", OLD."_creation_time", OLD."act", OLD."detail", OLD."facts")
		AND (NEW."operator_id" IS NULL OR NEW."operator_id" IS NOT DISTINCT FROM OLD."operator_id")
		AND (NEW."operator_email" IS NULL OR NEW."operator_email" IS NOT DISTINCT FROM OLD."operator_email")
		AND (NEW."subject_id" IS NULL OR NEW."subject_id" IS NOT DISTINCT FROM OLD."subject_id")
		AND (NEW."subject_email" IS NULL OR NEW."subject_email" IS NOT DISTINCT FROM OLD."subject_email")
	THEN
		RETURN NEW;
	END IF;
	RAISE EXCEPTION 'operator_acts is only added to' USING ERRCODE = 'restrict_violation';
END
$$;
