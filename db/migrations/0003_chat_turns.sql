CREATE TABLE "chat_turns" (
	"_id" uuid PRIMARY KEY NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"user_id" uuid NOT NULL,
	"thread_id" uuid NOT NULL,
	"question_id" uuid NOT NULL,
	"request_id" text NOT NULL,
	"status" text NOT NULL,
	"model" text NOT NULL,
	"parts" jsonb,
	"input_tokens" integer,
	"output_tokens" integer,
	"failure" text,
	"ended_at" bigint,
	CONSTRAINT "chat_turns_status" CHECK ("chat_turns"."status" in ('running', 'completed', 'stopped', 'timeout', 'interrupted', 'failed')),
	CONSTRAINT "chat_turns_request_id" CHECK (char_length("chat_turns"."request_id") between 1 and 100)
);
--> statement-breakpoint
ALTER TABLE "chat_turns" ADD CONSTRAINT "chat_turns__id_chat_messages__id_fk" FOREIGN KEY ("_id") REFERENCES "public"."chat_messages"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "chat_turns" ADD CONSTRAINT "chat_turns_user_id_users__id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "chat_turns" ADD CONSTRAINT "chat_turns_thread_id_chat_threads__id_fk" FOREIGN KEY ("thread_id") REFERENCES "public"."chat_threads"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "chat_turns" ADD CONSTRAINT "chat_turns_question_id_chat_messages__id_fk" FOREIGN KEY ("question_id") REFERENCES "public"."chat_messages"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "chat_turns_by_request" ON "chat_turns" USING btree ("thread_id","request_id");--> statement-breakpoint
CREATE UNIQUE INDEX "chat_turns_one_running" ON "chat_turns" USING btree ("thread_id") WHERE "chat_turns"."status" = 'running';--> statement-breakpoint
CREATE INDEX "chat_turns_by_question" ON "chat_turns" USING btree ("question_id");--> statement-breakpoint
CREATE UNIQUE INDEX "chat_turns_live" ON "chat_turns" USING btree ("user_id","thread_id","_id");--> statement-breakpoint
ALTER TABLE "chat_turns" REPLICA IDENTITY USING INDEX "chat_turns_live";
