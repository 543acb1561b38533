CREATE TABLE "auth"."address_change" (
	"user_id" text PRIMARY KEY NOT NULL,
	"previous_email" text NOT NULL,
	"next_email" text NOT NULL,
	"previous_token" text NOT NULL,
	"next_token" text NOT NULL,
	"previous_confirmed" boolean DEFAULT false NOT NULL,
	"next_confirmed" boolean DEFAULT false NOT NULL,
	"by_holder" boolean DEFAULT false NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "auth"."address_change" ADD CONSTRAINT "address_change_user_id_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "auth"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "address_change_by_previous_token" ON "auth"."address_change" USING btree ("previous_token");--> statement-breakpoint
CREATE UNIQUE INDEX "address_change_by_next_token" ON "auth"."address_change" USING btree ("next_token");