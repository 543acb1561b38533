CREATE TABLE "demo_boats" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"harbour" text DEFAULT 'start page' NOT NULL,
	"name" text NOT NULL,
	"state" text NOT NULL,
	"lamp" boolean NOT NULL,
	"moved_at" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "demo_boats_state" CHECK ("demo_boats"."state" in ('at sea', 'coming in', 'moored'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX "demo_boats_live" ON "demo_boats" USING btree ("harbour","_id");--> statement-breakpoint
CREATE UNIQUE INDEX "demo_boats_by_name" ON "demo_boats" USING btree ("name");--> statement-breakpoint
ALTER TABLE "demo_boats" REPLICA IDENTITY USING INDEX "demo_boats_live";
