-- A delete, or a move between ranges, has to say which range the row left. The default identity logs only the key; FULL would
-- log the whole old row, with every long message in it.
ALTER TABLE "users" REPLICA IDENTITY USING INDEX "users_live";--> statement-breakpoint
ALTER TABLE "files" REPLICA IDENTITY USING INDEX "files_live";--> statement-breakpoint
ALTER TABLE "chat_threads" REPLICA IDENTITY USING INDEX "chat_threads_live";--> statement-breakpoint
ALTER TABLE "chat_messages" REPLICA IDENTITY USING INDEX "chat_messages_live";
