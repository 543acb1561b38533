CREATE TABLE "chat_replaced_messages" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"user_id" uuid NOT NULL,
	"thread_id" uuid NOT NULL,
	"replaced_by" uuid NOT NULL,
	"replaced_at" bigint NOT NULL,
	"role" text NOT NULL,
	"content" text NOT NULL,
	"attachments" jsonb,
	"turn" jsonb
);
--> statement-breakpoint
ALTER TABLE "chat_messages" ADD COLUMN "edited" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "chat_replaced_messages" ADD CONSTRAINT "chat_replaced_messages_user_id_users__id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "chat_replaced_messages" ADD CONSTRAINT "chat_replaced_messages_thread_id_chat_threads__id_fk" FOREIGN KEY ("thread_id") REFERENCES "public"."chat_threads"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "chat_replaced_messages_by_user_id" ON "chat_replaced_messages" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "chat_replaced_messages_by_question" ON "chat_replaced_messages" USING btree ("thread_id","replaced_by","_id");