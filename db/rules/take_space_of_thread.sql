-- Rows of a conversation are where it is. The lock waits for one that is being moved, so that no row of
-- it stays behind. It is the one that the check of the reference takes anyway, which refuses a row of no
-- conversation.
CREATE OR REPLACE FUNCTION "take_space_of_thread"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	"key" uuid;
BEGIN
	SELECT "space_key" INTO "key" FROM "chat_threads" WHERE "_id" = NEW."thread_id" FOR KEY SHARE;
	IF FOUND THEN
		NEW."space_key" := "key";
	END IF;
	RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER "chat_messages_space_key" BEFORE INSERT ON "chat_messages" FOR EACH ROW
	EXECUTE FUNCTION "take_space_of_thread"();

CREATE OR REPLACE TRIGGER "chat_turns_space_key" BEFORE INSERT ON "chat_turns" FOR EACH ROW
	EXECUTE FUNCTION "take_space_of_thread"();

CREATE OR REPLACE TRIGGER "chat_shares_space_key" BEFORE INSERT ON "chat_shares" FOR EACH ROW
	EXECUTE FUNCTION "take_space_of_thread"();
