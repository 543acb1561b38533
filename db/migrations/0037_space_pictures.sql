CREATE TABLE "space_pictures" (
	"space_id" uuid PRIMARY KEY NOT NULL,
	"picture_id" uuid NOT NULL,
	"bytes" "bytea" NOT NULL
);
--> statement-breakpoint
ALTER TABLE "space_pictures" ADD CONSTRAINT "space_pictures_space_id_spaces__id_fk" FOREIGN KEY ("space_id") REFERENCES "public"."spaces"("_id") ON DELETE cascade ON UPDATE no action;