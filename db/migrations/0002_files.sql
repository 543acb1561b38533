CREATE TABLE "file_usage" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"user_id" uuid NOT NULL,
	"used" bigint DEFAULT 0 NOT NULL,
	"reserved" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "file_usage_used" CHECK ("file_usage"."used" >= 0),
	CONSTRAINT "file_usage_reserved" CHECK ("file_usage"."reserved" >= 0)
);
--> statement-breakpoint
CREATE TABLE "uploads" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"user_id" uuid,
	"key" text NOT NULL,
	"reserved" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	CONSTRAINT "uploads_key_unique" UNIQUE("key"),
	CONSTRAINT "uploads_reserved" CHECK ("uploads"."reserved" >= 0)
);
--> statement-breakpoint
ALTER TABLE "file_usage" ADD CONSTRAINT "file_usage_user_id_users__id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_user_id_users__id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "file_usage_by_user_id" ON "file_usage" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "uploads_by_expires_at" ON "uploads" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "files_by_user_id_file_name" ON "files" USING btree ("user_id","file_name");--> statement-breakpoint
ALTER TABLE "blobs" ADD CONSTRAINT "blobs_sha256" CHECK ("blobs"."sha256" ~ '^[0-9a-f]{64}$');