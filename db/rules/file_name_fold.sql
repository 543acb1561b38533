-- A name without capitals, accents and the marks of Hebrew and Arabic vowels. The collation is built into
-- PostgreSQL 17 and later, so that the result is the same in every database.
CREATE OR REPLACE FUNCTION "file_name_fold"("name" text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
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
$$;
