CREATE TABLE "damaged_blobs" (
	"blob_id" uuid PRIMARY KEY NOT NULL,
	"damage" text NOT NULL,
	"found_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "damaged_blobs" ADD CONSTRAINT "damaged_blobs_blob_id_blobs__id_fk" FOREIGN KEY ("blob_id") REFERENCES "public"."blobs"("_id") ON DELETE cascade ON UPDATE no action;