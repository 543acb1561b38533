CREATE TABLE "chat_waiting" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"user_id" uuid NOT NULL,
	"thread_id" uuid NOT NULL,
	"place" integer NOT NULL,
	"request_id" text NOT NULL,
	"content" text NOT NULL,
	"attachments" jsonb,
	"state" text DEFAULT 'waiting' NOT NULL,
	"ended_at" bigint,
	"space_key" uuid DEFAULT '00000000-0000-0000-0000-000000000000' NOT NULL,
	CONSTRAINT "chat_waiting_state" CHECK ("chat_waiting"."state" in ('waiting', 'withdrawn', 'passed')),
	CONSTRAINT "chat_waiting_ended_at" CHECK (("chat_waiting"."state" = 'waiting') = ("chat_waiting"."ended_at" is null)),
	CONSTRAINT "chat_waiting_request_id" CHECK (char_length("chat_waiting"."request_id") between 1 and 100)
);
--> statement-breakpoint
ALTER TABLE "chat_waiting" ADD CONSTRAINT "chat_waiting_user_id_users__id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "chat_waiting" ADD CONSTRAINT "chat_waiting_thread_id_chat_threads__id_fk" FOREIGN KEY ("thread_id") REFERENCES "public"."chat_threads"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "chat_waiting_by_place" ON "chat_waiting" USING btree ("thread_id","place");--> statement-breakpoint
CREATE UNIQUE INDEX "chat_waiting_by_request" ON "chat_waiting" USING btree ("thread_id","request_id");--> statement-breakpoint
CREATE INDEX "chat_waiting_by_user_id" ON "chat_waiting" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "chat_waiting_live" ON "chat_waiting" USING btree ("thread_id","space_key","place","_id","user_id");--> statement-breakpoint
ALTER TABLE "chat_waiting" REPLICA IDENTITY USING INDEX "chat_waiting_live";
