CREATE TABLE "idempotency_keys" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"user_id" uuid NOT NULL,
	"key_hash" text NOT NULL,
	"request_hash" text NOT NULL,
	"upload_id" uuid,
	"response" jsonb,
	"expires_at" bigint NOT NULL,
	CONSTRAINT "idempotency_keys_created" CHECK ("idempotency_keys"."upload_id" is not null or "idempotency_keys"."response" is not null)
);
--> statement-breakpoint
ALTER TABLE "uploads" ADD COLUMN "process" bigint;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_user_id_users__id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_upload_id_uploads__id_fk" FOREIGN KEY ("upload_id") REFERENCES "public"."uploads"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "idempotency_keys_by_user_id" ON "idempotency_keys" USING btree ("user_id","key_hash");--> statement-breakpoint
CREATE INDEX "idempotency_keys_by_upload_id" ON "idempotency_keys" USING btree ("upload_id");--> statement-breakpoint
CREATE INDEX "idempotency_keys_by_expires_at" ON "idempotency_keys" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "uploads_by_process" ON "uploads" USING btree ("process") WHERE "uploads"."process" is not null;