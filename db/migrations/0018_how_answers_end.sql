ALTER TABLE "chat_turns" ADD COLUMN "finish_reason" text;--> statement-breakpoint
ALTER TABLE "chat_turns" ADD COLUMN "deadline" bigint;