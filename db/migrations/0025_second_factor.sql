-- Widens operator_acts_act.
CREATE TABLE "auth"."two_factor" (
	"id" text PRIMARY KEY NOT NULL,
	"secret" text NOT NULL,
	"backup_codes" text NOT NULL,
	"user_id" text NOT NULL,
	"verified" boolean DEFAULT true,
	"failed_verification_count" integer DEFAULT 0,
	"locked_until" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "operator_acts" DROP CONSTRAINT "operator_acts_act";--> statement-breakpoint
ALTER TABLE "auth"."session" ADD COLUMN "second_factor" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "auth"."user" ADD COLUMN "two_factor_enabled" boolean DEFAULT false;--> statement-breakpoint
ALTER TABLE "auth"."two_factor" ADD CONSTRAINT "two_factor_user_id_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "auth"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "two_factor_by_user_id" ON "auth"."two_factor" USING btree ("user_id");--> statement-breakpoint
ALTER TABLE "operator_acts" ADD CONSTRAINT "operator_acts_act" CHECK ("operator_acts"."act" in ('change-plan', 'sign-out', 'suspend', 'allow', 'make-password-link', 'remove-factors', 'invite', 'retry-letter', 'drop-letter', 'stop-answer'));