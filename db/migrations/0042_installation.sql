-- Which installation this is. A backup does not have it, and a restore to a moment replaces it: what
-- was restored beside the original is another installation.
CREATE SCHEMA IF NOT EXISTS "drizzle";
--> statement-breakpoint
CREATE TABLE "drizzle"."installation" (
	"only" boolean PRIMARY KEY DEFAULT true NOT NULL CHECK ("only"),
	"id" uuid DEFAULT gen_random_uuid() NOT NULL
);
--> statement-breakpoint
INSERT INTO "drizzle"."installation" DEFAULT VALUES;
