CREATE TABLE "release_checks" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"place" text DEFAULT 'everywhere' NOT NULL,
	"source" text NOT NULL,
	"checked_at" bigint NOT NULL,
	"version" text,
	"notes" text,
	"failed" boolean DEFAULT false NOT NULL,
	CONSTRAINT "release_checks_place" CHECK ("release_checks"."place" = 'everywhere')
);
--> statement-breakpoint
CREATE UNIQUE INDEX "release_checks_only_one" ON "release_checks" USING btree ("place");