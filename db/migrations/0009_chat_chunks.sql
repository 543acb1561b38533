CREATE TABLE "chat_chunks" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"user_id" uuid NOT NULL,
	"thread_id" uuid NOT NULL,
	"turn_id" uuid NOT NULL,
	"seq" integer NOT NULL,
	"delta" jsonb NOT NULL
);
--> statement-breakpoint
ALTER TABLE "chat_turns" ADD COLUMN "process" bigint;--> statement-breakpoint
ALTER TABLE "chat_turns" ADD COLUMN "stop_requested_at" bigint;--> statement-breakpoint
ALTER TABLE "chat_chunks" ADD CONSTRAINT "chat_chunks_turn_id_chat_turns__id_fk" FOREIGN KEY ("turn_id") REFERENCES "public"."chat_turns"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "chat_chunks_by_turn" ON "chat_chunks" USING btree ("turn_id","seq");--> statement-breakpoint
CREATE UNIQUE INDEX "chat_chunks_live" ON "chat_chunks" USING btree ("user_id","thread_id","_id");--> statement-breakpoint
-- A delete has to say which conversation the row left, as with the other live tables.
ALTER TABLE "chat_chunks" REPLICA IDENTITY USING INDEX "chat_chunks_live";
