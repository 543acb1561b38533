CREATE TABLE "chat_reads" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"user_id" uuid NOT NULL,
	"thread_id" uuid NOT NULL,
	"message_count" integer NOT NULL,
	"read_at" bigint NOT NULL,
	"space_key" uuid DEFAULT '00000000-0000-0000-0000-000000000000' NOT NULL
);
--> statement-breakpoint
ALTER TABLE "chat_threads" ADD COLUMN "message_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "chat_reads" ADD CONSTRAINT "chat_reads_user_id_users__id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "chat_reads" ADD CONSTRAINT "chat_reads_thread_id_chat_threads__id_fk" FOREIGN KEY ("thread_id") REFERENCES "public"."chat_threads"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "chat_reads_by_user_id" ON "chat_reads" USING btree ("user_id","thread_id");--> statement-breakpoint
CREATE INDEX "chat_reads_by_thread_id" ON "chat_reads" USING btree ("thread_id");--> statement-breakpoint
CREATE UNIQUE INDEX "chat_reads_live" ON "chat_reads" USING btree ("user_id","space_key","read_at","_id");
--> statement-breakpoint
ALTER TABLE "chat_reads" REPLICA IDENTITY USING INDEX "chat_reads_live";
