-- The words of a text as they are looked for, with its owner among them, so that a search reads its own
-- user's entries alone. What is no letter or digit parts words, and each Chinese or Japanese character is
-- a word: they are written without spaces. Case is Unicode's, whatever the database's locale is. No more
-- is indexed than fits a tsvector, so that no answer is too long to be stored.
CREATE OR REPLACE FUNCTION "search_words"("owner" uuid, "content" text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN array_to_tsvector(ARRAY['owner:' || "owner"::text]) || to_tsvector('simple', regexp_replace(
	regexp_replace(lower(left("content", 100000) COLLATE pg_unicode_fast), '[^[:alnum:]]+', ' ', 'g'),
	'([\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])', ' \1 ', 'g'));
