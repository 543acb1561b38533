CREATE TABLE "auth"."provider_session" (
	"session_id" text PRIMARY KEY NOT NULL,
	"issuer" text NOT NULL,
	"sid" text
);
--> statement-breakpoint
ALTER TABLE "auth"."provider_session" ADD CONSTRAINT "provider_session_session_id_session_id_fk" FOREIGN KEY ("session_id") REFERENCES "auth"."session"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "provider_session_by_sid" ON "auth"."provider_session" USING btree ("issuer","sid");