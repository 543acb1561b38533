CREATE TABLE "mail_outbox" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"kind" text NOT NULL,
	"user_id" text,
	"cause" text NOT NULL,
	"recipient" text NOT NULL,
	"message_id" text NOT NULL,
	"subject" text NOT NULL,
	"text" text NOT NULL,
	"html" text NOT NULL,
	"state" text DEFAULT 'queued' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" bigint NOT NULL,
	"lease_until" bigint,
	"expires_at" bigint,
	"sent_at" bigint,
	"last_error" text,
	CONSTRAINT "mail_outbox_by_cause" UNIQUE NULLS NOT DISTINCT("user_id","kind","cause"),
	CONSTRAINT "mail_outbox_state" CHECK ("mail_outbox"."state" in ('queued', 'sent', 'parked'))
);
--> statement-breakpoint
ALTER TABLE "waitlist" ADD COLUMN "confirmed_at" bigint;--> statement-breakpoint
ALTER TABLE "waitlist" ADD COLUMN "invited_at" bigint;--> statement-breakpoint
ALTER TABLE "waitlist" ADD COLUMN "joined_at" bigint;--> statement-breakpoint
CREATE INDEX "mail_outbox_due" ON "mail_outbox" USING btree ("next_attempt_at") WHERE "mail_outbox"."state" = 'queued';--> statement-breakpoint
CREATE INDEX "mail_outbox_by_recipient" ON "mail_outbox" USING btree (lower("recipient"),"kind");--> statement-breakpoint
CREATE INDEX "mail_outbox_by_state" ON "mail_outbox" USING btree ("state","_id");