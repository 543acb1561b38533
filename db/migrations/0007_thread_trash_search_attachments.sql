-- The words of a text as they are looked for, with its owner among them, so that a search reads its own user's entries alone.
-- What is no letter or digit parts words, and each Chinese or Japanese character is a word: they are written without spaces. Case is
-- Unicode's, whatever the database's locale is. No more is indexed than fits a tsvector, so that no answer is too long to be stored.
CREATE FUNCTION "search_words"("owner" uuid, "content" text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN array_to_tsvector(ARRAY['owner:' || "owner"::text]) || to_tsvector('simple', regexp_replace(
	regexp_replace(lower(left("content", 100000) COLLATE pg_unicode_fast), '[^[:alnum:]]+', ' ', 'g'),
	'([\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])', ' \1 ', 'g'));--> statement-breakpoint
DROP INDEX "chat_threads_live";--> statement-breakpoint
ALTER TABLE "chat_messages" ADD COLUMN "attachments" jsonb;--> statement-breakpoint
ALTER TABLE "chat_threads" ADD COLUMN "title_source" text DEFAULT 'question' NOT NULL;--> statement-breakpoint
ALTER TABLE "chat_threads" ADD COLUMN "trashed" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "chat_threads" ADD COLUMN "trashed_at" bigint;--> statement-breakpoint
CREATE INDEX "chat_messages_search" ON "chat_messages" USING gin (search_words("user_id", "content"));--> statement-breakpoint
CREATE INDEX "chat_threads_by_trashed_at" ON "chat_threads" USING btree ("trashed_at") WHERE "chat_threads"."trashed";--> statement-breakpoint
CREATE INDEX "chat_threads_search" ON "chat_threads" USING gin (search_words("user_id", "title"));--> statement-breakpoint
CREATE UNIQUE INDEX "chat_threads_live" ON "chat_threads" USING btree ("user_id","trashed","last_message_at","_id");--> statement-breakpoint
ALTER TABLE "chat_threads" ADD CONSTRAINT "chat_threads_title_source" CHECK ("chat_threads"."title_source" in ('question', 'model', 'user'));--> statement-breakpoint
ALTER TABLE "chat_threads" ADD CONSTRAINT "chat_threads_trashed_at" CHECK ("chat_threads"."trashed" = ("chat_threads"."trashed_at" is not null));--> statement-breakpoint
-- The index that was the identity of conversations is gone and comes back with the trash in it.
ALTER TABLE "chat_threads" REPLICA IDENTITY USING INDEX "chat_threads_live";--> statement-breakpoint
-- Until now nobody knew who gave a title, so all but the untitled ones count as given by hand.
UPDATE "chat_threads" SET "title_source" = 'user' WHERE "title" <> 'New conversation';
