CREATE TABLE "auth"."picture" (
	"user_id" text PRIMARY KEY NOT NULL,
	"id" uuid NOT NULL,
	"bytes" "bytea" NOT NULL
);
--> statement-breakpoint
ALTER TABLE "auth"."picture" ADD CONSTRAINT "picture_user_id_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "auth"."user"("id") ON DELETE cascade ON UPDATE no action;