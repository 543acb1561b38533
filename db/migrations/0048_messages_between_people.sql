ALTER TABLE "chat_messages" ADD COLUMN "request_id" text;--> statement-breakpoint
ALTER TABLE "chat_threads" ADD COLUMN "people_only" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "chat_messages_by_request" ON "chat_messages" USING btree ("thread_id","request_id") WHERE "chat_messages"."request_id" is not null;--> statement-breakpoint
ALTER TABLE "chat_messages" ADD CONSTRAINT "chat_messages_request_id" CHECK (char_length("chat_messages"."request_id") between 1 and 100);