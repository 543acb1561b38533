CREATE TABLE "devices" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"user_id" uuid NOT NULL,
	"label" text NOT NULL,
	"connection_id" text NOT NULL,
	"process" bigint NOT NULL,
	CONSTRAINT "devices_connection_id_unique" UNIQUE("connection_id")
);
--> statement-breakpoint
ALTER TABLE "devices" ADD CONSTRAINT "devices_user_id_users__id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "devices_live" ON "devices" USING btree ("user_id","_id");--> statement-breakpoint
CREATE INDEX "devices_by_process" ON "devices" USING btree ("process");--> statement-breakpoint
ALTER TABLE "devices" REPLICA IDENTITY USING INDEX "devices_live";
