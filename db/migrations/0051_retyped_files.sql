CREATE TABLE "retyped_files" (
	"place" text PRIMARY KEY DEFAULT 'everywhere' NOT NULL,
	"until" bigint NOT NULL,
	CONSTRAINT "retyped_files_place" CHECK ("retyped_files"."place" = 'everywhere')
);
