CREATE TABLE "maintenance" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"place" text DEFAULT 'everywhere' NOT NULL,
	"message" text,
	CONSTRAINT "maintenance_place" CHECK ("maintenance"."place" = 'everywhere'),
	CONSTRAINT "maintenance_message" CHECK (char_length("maintenance"."message") between 1 and 500)
);
--> statement-breakpoint
CREATE UNIQUE INDEX "maintenance_only_one" ON "maintenance" USING btree ("place");--> statement-breakpoint
CREATE UNIQUE INDEX "maintenance_live" ON "maintenance" USING btree ("place","_id");--> statement-breakpoint
ALTER TABLE "maintenance" REPLICA IDENTITY USING INDEX "maintenance_live";
