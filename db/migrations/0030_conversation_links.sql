CREATE TABLE "chat_shares" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"user_id" uuid NOT NULL,
	"thread_id" uuid NOT NULL,
	"token_hash" text NOT NULL,
	"hint" text NOT NULL,
	"expires_at" bigint,
	"password_hash" text,
	"title" text,
	"message_ids" uuid[],
	CONSTRAINT "chat_shares_token_hash_unique" UNIQUE("token_hash"),
	CONSTRAINT "chat_shares_token_hash" CHECK ("chat_shares"."token_hash" ~ '^[0-9a-f]{64}$'),
	CONSTRAINT "chat_shares_copy" CHECK (("chat_shares"."title" is null) = ("chat_shares"."message_ids" is null))
);
--> statement-breakpoint
ALTER TABLE "chat_shares" ADD CONSTRAINT "chat_shares_user_id_users__id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "chat_shares" ADD CONSTRAINT "chat_shares_thread_id_chat_threads__id_fk" FOREIGN KEY ("thread_id") REFERENCES "public"."chat_threads"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "chat_shares_live" ON "chat_shares" USING btree ("user_id","thread_id","_id");--> statement-breakpoint
CREATE INDEX "chat_shares_by_thread_id" ON "chat_shares" USING btree ("thread_id");--> statement-breakpoint
ALTER TABLE "chat_shares" REPLICA IDENTITY USING INDEX "chat_shares_live";
