ALTER TABLE "uploads" ALTER COLUMN "key" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "uploads" ADD COLUMN "length" bigint;--> statement-breakpoint
ALTER TABLE "uploads" ADD COLUMN "file_name" text;--> statement-breakpoint
ALTER TABLE "uploads" ADD COLUMN "metadata" text;--> statement-breakpoint
ALTER TABLE "uploads" ADD COLUMN "file_id" uuid;--> statement-breakpoint
ALTER TABLE "uploads" ADD COLUMN "wanted_at" bigint;--> statement-breakpoint
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_file_id_files__id_fk" FOREIGN KEY ("file_id") REFERENCES "public"."files"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "uploads_by_user_id" ON "uploads" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "uploads_by_file_id" ON "uploads" USING btree ("file_id");--> statement-breakpoint
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_length" CHECK ("uploads"."length" >= 0);--> statement-breakpoint
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_finished" CHECK (("uploads"."key" is null) = ("uploads"."file_id" is not null));--> statement-breakpoint
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_finished_reserve_nothing" CHECK ("uploads"."file_id" is null or "uploads"."reserved" = 0);