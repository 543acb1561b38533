-- The same in natural order: a zero and the number of its digits are put before each number, and 9 sorts
-- before 10. The number of digits is a control character, which no name contains, so a search can leave
-- both out.
CREATE OR REPLACE FUNCTION "file_name_key"("name" text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
	SELECT coalesce(string_agg(
		CASE WHEN "part"[1] IS NULL THEN "part"[2]
		ELSE '0' || chr(1 + least(30, length(ltrim("part"[1], '0')))) || "part"[1] END,
		'' ORDER BY "place"), '')
	FROM regexp_matches("file_name_fold"("name") COLLATE "pg_c_utf8", '([0-9]+)|([^0-9]+)', 'g') WITH ORDINALITY AS "parts"("part", "place")
$$;
