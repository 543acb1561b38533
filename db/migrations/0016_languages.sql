ALTER TABLE "users" ADD COLUMN "language" text;--> statement-breakpoint
ALTER TABLE "waitlist" ADD COLUMN "language" text;--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_language" CHECK ("users"."language" in ('en', 'de'));--> statement-breakpoint
ALTER TABLE "waitlist" ADD CONSTRAINT "waitlist_language" CHECK ("waitlist"."language" in ('en', 'de'));