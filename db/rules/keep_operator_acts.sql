-- The history of operators' changes is only added to, except that a deleted person is taken out of it.
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

CREATE OR REPLACE TRIGGER "operator_acts_keep" BEFORE UPDATE OR DELETE ON "operator_acts"
	FOR EACH ROW EXECUTE FUNCTION "keep_operator_acts"();

CREATE OR REPLACE TRIGGER "operator_acts_keep_all" BEFORE TRUNCATE ON "operator_acts"
	FOR EACH STATEMENT EXECUTE FUNCTION "keep_operator_acts"();
