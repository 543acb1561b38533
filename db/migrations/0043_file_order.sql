ALTER TABLE "files" ADD COLUMN "modified_at" bigint;--> statement-breakpoint
ALTER TABLE "files" ADD COLUMN "name_key" text;--> statement-breakpoint
-- Without capitals, accents and the marks of Hebrew and Arabic vowels. The collation is built into PostgreSQL 17 and later, so that
-- the result is the same in every database.
CREATE FUNCTION "file_name_fold"("name" text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
	SELECT normalize(
		replace(replace(replace(replace(
			translate(
				regexp_replace(
					lower(normalize("name", NFKD) COLLATE "pg_c_utf8"),
					'[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f\u0001-\u001f]', '', 'g'
				),
				'øłđħıς', 'oldhiσ'
			),
			'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'),
		NFKC)
$$;--> statement-breakpoint
-- The same in natural order: a zero and the number of its digits are put before each number, and 9 sorts before 10. The number of
-- digits is a control character, which no name contains, so a search can leave both out.
CREATE FUNCTION "file_name_key"("name" text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
	SELECT coalesce(string_agg(
		CASE WHEN "part"[1] IS NULL THEN "part"[2]
		ELSE '0' || chr(1 + least(30, length(ltrim("part"[1], '0')))) || "part"[1] END,
		'' ORDER BY "place"), '')
	FROM regexp_matches("file_name_fold"("name") COLLATE "pg_c_utf8", '([0-9]+)|([^0-9]+)', 'g') WITH ORDINALITY AS "parts"("part", "place")
$$;--> statement-breakpoint
CREATE FUNCTION "set_file_name_key"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW."name_key" := "file_name_key"(NEW."file_name");
	RETURN NEW;
END
$$;--> statement-breakpoint
CREATE TRIGGER "files_name_key" BEFORE INSERT OR UPDATE OF "file_name" ON "files" FOR EACH ROW
	EXECUTE FUNCTION "set_file_name_key"();
