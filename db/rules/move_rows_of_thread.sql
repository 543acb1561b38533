-- Messages, turns, chunks and links move with their conversation.
CREATE OR REPLACE FUNCTION "move_rows_of_thread"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE "chat_messages" SET "space_key" = NEW."space_key" WHERE "thread_id" = NEW."_id";
	UPDATE "chat_turns" SET "space_key" = NEW."space_key" WHERE "thread_id" = NEW."_id";
	UPDATE "chat_chunks" SET "space_key" = NEW."space_key" WHERE "thread_id" = NEW."_id";
	UPDATE "chat_shares" SET "space_key" = NEW."space_key" WHERE "thread_id" = NEW."_id";
	RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "chat_threads_moved" AFTER UPDATE ON "chat_threads" FOR EACH ROW
	WHEN (NEW."space_key" <> OLD."space_key")
	EXECUTE FUNCTION "move_rows_of_thread"();
