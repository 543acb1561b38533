CREATE TABLE "chat_messages" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"user_id" uuid NOT NULL,
	"thread_id" uuid NOT NULL,
	"role" text NOT NULL,
	"content" text NOT NULL,
	CONSTRAINT "chat_messages_role" CHECK ("chat_messages"."role" in ('user', 'assistant'))
);
--> statement-breakpoint
CREATE TABLE "chat_threads" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"user_id" uuid NOT NULL,
	"title" text NOT NULL,
	"last_message_at" bigint NOT NULL,
	CONSTRAINT "chat_threads_title" CHECK (char_length("chat_threads"."title") between 1 and 200)
);
--> statement-breakpoint
CREATE TABLE "blobs" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"key" text NOT NULL,
	"size" bigint NOT NULL,
	"sha256" text NOT NULL,
	CONSTRAINT "blobs_key_unique" UNIQUE("key"),
	CONSTRAINT "blobs_size" CHECK ("blobs"."size" >= 0)
);
--> statement-breakpoint
CREATE TABLE "files" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"storage_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"file_name" text NOT NULL,
	"mime_type" text NOT NULL,
	"size" bigint NOT NULL,
	CONSTRAINT "files_name" CHECK (octet_length("files"."file_name") between 1 and 255),
	CONSTRAINT "files_size" CHECK ("files"."size" >= 0)
);
--> statement-breakpoint
CREATE TABLE "users" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"clerk_id" text NOT NULL,
	"email" text NOT NULL,
	"name" text,
	"image_url" text,
	"plan" text,
	"onboarding_completed" boolean,
	"onboarding_step" text,
	CONSTRAINT "users_plan" CHECK ("users"."plan" in ('free', 'pro')),
	CONSTRAINT "users_onboarding_step" CHECK ("users"."onboarding_step" in ('welcome', 'profile', 'first-steps', 'done'))
);
--> statement-breakpoint
CREATE TABLE "waitlist" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"email" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "chat_messages" ADD CONSTRAINT "chat_messages_user_id_users__id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "chat_messages" ADD CONSTRAINT "chat_messages_thread_id_chat_threads__id_fk" FOREIGN KEY ("thread_id") REFERENCES "public"."chat_threads"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "chat_threads" ADD CONSTRAINT "chat_threads_user_id_users__id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "files" ADD CONSTRAINT "files_storage_id_blobs__id_fk" FOREIGN KEY ("storage_id") REFERENCES "public"."blobs"("_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "files" ADD CONSTRAINT "files_user_id_users__id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "chat_messages_by_user_id" ON "chat_messages" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "chat_messages_by_thread_id" ON "chat_messages" USING btree ("thread_id");--> statement-breakpoint
CREATE UNIQUE INDEX "chat_messages_live" ON "chat_messages" USING btree ("user_id","thread_id","_id");--> statement-breakpoint
CREATE INDEX "chat_threads_by_user_id" ON "chat_threads" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "chat_threads_by_user_id_last_message" ON "chat_threads" USING btree ("user_id","last_message_at");--> statement-breakpoint
CREATE UNIQUE INDEX "chat_threads_live" ON "chat_threads" USING btree ("user_id","last_message_at","_id");--> statement-breakpoint
CREATE INDEX "files_by_storage_id" ON "files" USING btree ("storage_id");--> statement-breakpoint
CREATE INDEX "files_by_user_id" ON "files" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "files_live" ON "files" USING btree ("user_id","_id");--> statement-breakpoint
CREATE UNIQUE INDEX "users_by_clerk_id" ON "users" USING btree ("clerk_id");--> statement-breakpoint
CREATE UNIQUE INDEX "users_live" ON "users" USING btree ("clerk_id","_id");--> statement-breakpoint
CREATE UNIQUE INDEX "waitlist_by_email" ON "waitlist" USING btree (lower("email"));