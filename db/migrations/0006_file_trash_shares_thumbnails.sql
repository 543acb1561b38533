CREATE TABLE "file_shares" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"user_id" uuid NOT NULL,
	"file_id" uuid NOT NULL,
	"token_hash" text NOT NULL,
	"hint" text NOT NULL,
	"expires_at" bigint,
	"password_hash" text,
	"max_downloads" integer,
	"downloads" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "file_shares_token_hash_unique" UNIQUE("token_hash"),
	CONSTRAINT "file_shares_token_hash" CHECK ("file_shares"."token_hash" ~ '^[0-9a-f]{64}$'),
	CONSTRAINT "file_shares_max_downloads" CHECK ("file_shares"."max_downloads" > 0),
	CONSTRAINT "file_shares_downloads" CHECK ("file_shares"."downloads" between 0 and "file_shares"."max_downloads")
);
--> statement-breakpoint
CREATE TABLE "file_thumbnails" (
	"file_id" uuid PRIMARY KEY NOT NULL,
	"bytes" "bytea"
);
--> statement-breakpoint
DROP INDEX "files_by_user_id";--> statement-breakpoint
DROP INDEX "files_by_user_id_file_name";--> statement-breakpoint
DROP INDEX "files_live";--> statement-breakpoint
ALTER TABLE "files" ADD COLUMN "trashed" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "files" ADD COLUMN "trashed_at" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "file_shares" ADD CONSTRAINT "file_shares_user_id_users__id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "file_shares" ADD CONSTRAINT "file_shares_file_id_files__id_fk" FOREIGN KEY ("file_id") REFERENCES "public"."files"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "file_thumbnails" ADD CONSTRAINT "file_thumbnails_file_id_files__id_fk" FOREIGN KEY ("file_id") REFERENCES "public"."files"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "file_shares_live" ON "file_shares" USING btree ("user_id","file_id","_id");--> statement-breakpoint
CREATE INDEX "file_shares_by_file_id" ON "file_shares" USING btree ("file_id");--> statement-breakpoint
CREATE INDEX "files_by_trashed_at" ON "files" USING btree ("trashed_at") WHERE "files"."trashed";--> statement-breakpoint
CREATE INDEX "files_by_user_id" ON "files" USING btree ("user_id","trashed","_id");--> statement-breakpoint
CREATE UNIQUE INDEX "files_by_user_id_file_name" ON "files" USING btree ("user_id","file_name") WHERE not "files"."trashed";--> statement-breakpoint
CREATE UNIQUE INDEX "files_live" ON "files" USING btree ("user_id","trashed","trashed_at","_id");--> statement-breakpoint
ALTER TABLE "files" ADD CONSTRAINT "files_trashed" CHECK ("files"."trashed" = ("files"."trashed_at" > 0));--> statement-breakpoint
-- The index that was the identity of files is gone and comes back with the trash in it.
ALTER TABLE "files" REPLICA IDENTITY USING INDEX "files_live";--> statement-breakpoint
ALTER TABLE "file_shares" REPLICA IDENTITY USING INDEX "file_shares_live";
