-- Widens files_by_user_id_file_name.
CREATE TABLE "space_invitations" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"space_id" uuid NOT NULL,
	"email" text DEFAULT '' NOT NULL,
	"role" text NOT NULL,
	"token_hash" text NOT NULL,
	"hint" text NOT NULL,
	"expires_at" bigint NOT NULL,
	"max_uses" integer,
	"uses" integer DEFAULT 0 NOT NULL,
	"user_id" uuid NOT NULL,
	"space_name" text DEFAULT '' NOT NULL,
	CONSTRAINT "space_invitations_token_hash_unique" UNIQUE("token_hash"),
	CONSTRAINT "space_invitations_role" CHECK ("space_invitations"."role" in ('editor', 'reader')),
	CONSTRAINT "space_invitations_token_hash" CHECK ("space_invitations"."token_hash" ~ '^[0-9a-f]{64}$'),
	CONSTRAINT "space_invitations_uses" CHECK ("space_invitations"."uses" between 0 and "space_invitations"."max_uses")
);
--> statement-breakpoint
CREATE TABLE "space_members" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"space_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"role" text NOT NULL,
	"trashed" boolean DEFAULT false NOT NULL,
	"trashed_at" bigint,
	"space_name" text DEFAULT '' NOT NULL,
	"space_slug" text DEFAULT '' NOT NULL,
	"space_picture_id" uuid,
	"member_name" text,
	"member_email" text DEFAULT '' NOT NULL,
	"member_image_url" text,
	CONSTRAINT "space_members_role" CHECK ("space_members"."role" in ('owner', 'editor', 'reader'))
);
--> statement-breakpoint
CREATE TABLE "spaces" (
	"_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"_creation_time" bigint DEFAULT (extract(epoch from clock_timestamp()) * 1000)::bigint NOT NULL,
	"name" text NOT NULL,
	"slug" text NOT NULL,
	"picture_id" uuid,
	"trashed" boolean DEFAULT false NOT NULL,
	"trashed_at" bigint,
	CONSTRAINT "spaces_slug_unique" UNIQUE("slug"),
	CONSTRAINT "spaces_name" CHECK (char_length("spaces"."name") between 1 and 60),
	CONSTRAINT "spaces_slug" CHECK ("spaces"."slug" ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and char_length("spaces"."slug") <= 40),
	CONSTRAINT "spaces_trashed_at" CHECK ("spaces"."trashed" = ("spaces"."trashed_at" is not null))
);
--> statement-breakpoint
DROP INDEX "files_by_user_id_file_name";--> statement-breakpoint
ALTER TABLE "chat_chunks" ADD COLUMN "space_key" uuid DEFAULT '00000000-0000-0000-0000-000000000000' NOT NULL;--> statement-breakpoint
ALTER TABLE "chat_messages" ADD COLUMN "space_key" uuid DEFAULT '00000000-0000-0000-0000-000000000000' NOT NULL;--> statement-breakpoint
ALTER TABLE "chat_shares" ADD COLUMN "space_key" uuid DEFAULT '00000000-0000-0000-0000-000000000000' NOT NULL;--> statement-breakpoint
ALTER TABLE "chat_threads" ADD COLUMN "space_id" uuid;--> statement-breakpoint
ALTER TABLE "chat_threads" ADD COLUMN "space_key" uuid DEFAULT '00000000-0000-0000-0000-000000000000' NOT NULL;--> statement-breakpoint
ALTER TABLE "chat_turns" ADD COLUMN "space_key" uuid DEFAULT '00000000-0000-0000-0000-000000000000' NOT NULL;--> statement-breakpoint
ALTER TABLE "file_shares" ADD COLUMN "space_key" uuid DEFAULT '00000000-0000-0000-0000-000000000000' NOT NULL;--> statement-breakpoint
ALTER TABLE "files" ADD COLUMN "space_id" uuid;--> statement-breakpoint
ALTER TABLE "files" ADD COLUMN "space_key" uuid DEFAULT '00000000-0000-0000-0000-000000000000' NOT NULL;--> statement-breakpoint
ALTER TABLE "uploads" ADD COLUMN "space_id" uuid;--> statement-breakpoint
ALTER TABLE "space_invitations" ADD CONSTRAINT "space_invitations_space_id_spaces__id_fk" FOREIGN KEY ("space_id") REFERENCES "public"."spaces"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "space_invitations" ADD CONSTRAINT "space_invitations_user_id_users__id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "space_members" ADD CONSTRAINT "space_members_space_id_spaces__id_fk" FOREIGN KEY ("space_id") REFERENCES "public"."spaces"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "space_members" ADD CONSTRAINT "space_members_user_id_users__id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "space_invitations_live" ON "space_invitations" USING btree ("space_id","email","_id");--> statement-breakpoint
CREATE INDEX "space_invitations_by_email" ON "space_invitations" USING btree ("email");--> statement-breakpoint
CREATE INDEX "space_invitations_by_expires_at" ON "space_invitations" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "space_invitations_one_per_address" ON "space_invitations" USING btree ("space_id","email") WHERE "space_invitations"."email" <> '';--> statement-breakpoint
CREATE UNIQUE INDEX "space_members_by_space" ON "space_members" USING btree ("space_id","user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "space_members_one_owner" ON "space_members" USING btree ("space_id") WHERE "space_members"."role" = 'owner';--> statement-breakpoint
CREATE UNIQUE INDEX "space_members_live" ON "space_members" USING btree ("user_id","space_id","trashed","role","_id");--> statement-breakpoint
CREATE INDEX "spaces_by_trashed_at" ON "spaces" USING btree ("trashed_at") WHERE "spaces"."trashed";--> statement-breakpoint
ALTER TABLE "chat_threads" ADD CONSTRAINT "chat_threads_space_id_spaces__id_fk" FOREIGN KEY ("space_id") REFERENCES "public"."spaces"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "files" ADD CONSTRAINT "files_space_id_spaces__id_fk" FOREIGN KEY ("space_id") REFERENCES "public"."spaces"("_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_space_id_spaces__id_fk" FOREIGN KEY ("space_id") REFERENCES "public"."spaces"("_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "chat_chunks_live_in_space" ON "chat_chunks" USING btree ("thread_id","space_key","_id","user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "chat_messages_live_in_space" ON "chat_messages" USING btree ("thread_id","space_key","_id","user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "chat_shares_live_in_space" ON "chat_shares" USING btree ("thread_id","space_key","_id","user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "chat_threads_live_in_space" ON "chat_threads" USING btree ("space_key","trashed","last_message_at","_id","user_id");--> statement-breakpoint
CREATE INDEX "chat_threads_by_space_id" ON "chat_threads" USING btree ("space_id") WHERE "chat_threads"."space_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "chat_turns_live_in_space" ON "chat_turns" USING btree ("thread_id","space_key","_id","user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "file_shares_live_in_space" ON "file_shares" USING btree ("space_key","file_id","_id","user_id");--> statement-breakpoint
CREATE INDEX "files_by_space_id" ON "files" USING btree ("space_id") WHERE "files"."space_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "files_live_in_space" ON "files" USING btree ("space_key","trashed","trashed_at","_id","user_id");--> statement-breakpoint
CREATE INDEX "uploads_by_space_id" ON "uploads" USING btree ("space_id") WHERE "uploads"."space_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "files_by_user_id_file_name" ON "files" USING btree (coalesce(nullif("space_key", '00000000-0000-0000-0000-000000000000'::uuid), "user_id"),"file_name") WHERE not "files"."trashed";--> statement-breakpoint
-- The log names the space that a row left, and still its user, by whom the previous version finds ranges.
ALTER TABLE "chat_threads" REPLICA IDENTITY USING INDEX "chat_threads_live_in_space";--> statement-breakpoint
ALTER TABLE "chat_messages" REPLICA IDENTITY USING INDEX "chat_messages_live_in_space";--> statement-breakpoint
ALTER TABLE "chat_turns" REPLICA IDENTITY USING INDEX "chat_turns_live_in_space";--> statement-breakpoint
ALTER TABLE "chat_chunks" REPLICA IDENTITY USING INDEX "chat_chunks_live_in_space";--> statement-breakpoint
ALTER TABLE "chat_shares" REPLICA IDENTITY USING INDEX "chat_shares_live_in_space";--> statement-breakpoint
ALTER TABLE "files" REPLICA IDENTITY USING INDEX "files_live_in_space";--> statement-breakpoint
ALTER TABLE "file_shares" REPLICA IDENTITY USING INDEX "file_shares_live_in_space";--> statement-breakpoint
ALTER TABLE "space_members" REPLICA IDENTITY USING INDEX "space_members_live";--> statement-breakpoint
ALTER TABLE "space_invitations" REPLICA IDENTITY USING INDEX "space_invitations_live";--> statement-breakpoint
-- Not called for what is personal.
CREATE FUNCTION "fill_space_key"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW."space_key" := coalesce(NEW."space_id", '00000000-0000-0000-0000-000000000000');
	RETURN NEW;
END
$$;--> statement-breakpoint
CREATE TRIGGER "chat_threads_space_key" BEFORE INSERT OR UPDATE ON "chat_threads" FOR EACH ROW
	WHEN (NEW."space_key" <> coalesce(NEW."space_id", '00000000-0000-0000-0000-000000000000'))
	EXECUTE FUNCTION "fill_space_key"();--> statement-breakpoint
CREATE TRIGGER "files_space_key" BEFORE INSERT OR UPDATE ON "files" FOR EACH ROW
	WHEN (NEW."space_key" <> coalesce(NEW."space_id", '00000000-0000-0000-0000-000000000000'))
	EXECUTE FUNCTION "fill_space_key"();--> statement-breakpoint
-- The lock waits for a conversation that is being moved, so that no row of it stays behind. It is the one that the check of the
-- reference takes anyway, which refuses a row of no conversation.
CREATE FUNCTION "take_space_of_thread"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	"key" uuid;
BEGIN
	SELECT "space_key" INTO "key" FROM "chat_threads" WHERE "_id" = NEW."thread_id" FOR KEY SHARE;
	IF FOUND THEN
		NEW."space_key" := "key";
	END IF;
	RETURN NEW;
END
$$;--> statement-breakpoint
CREATE TRIGGER "chat_messages_space_key" BEFORE INSERT ON "chat_messages" FOR EACH ROW
	EXECUTE FUNCTION "take_space_of_thread"();--> statement-breakpoint
CREATE TRIGGER "chat_turns_space_key" BEFORE INSERT ON "chat_turns" FOR EACH ROW
	EXECUTE FUNCTION "take_space_of_thread"();--> statement-breakpoint
CREATE TRIGGER "chat_shares_space_key" BEFORE INSERT ON "chat_shares" FOR EACH ROW
	EXECUTE FUNCTION "take_space_of_thread"();--> statement-breakpoint
CREATE FUNCTION "move_rows_of_thread"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE "chat_messages" SET "space_key" = NEW."space_key" WHERE "thread_id" = NEW."_id";
	UPDATE "chat_turns" SET "space_key" = NEW."space_key" WHERE "thread_id" = NEW."_id";
	UPDATE "chat_chunks" SET "space_key" = NEW."space_key" WHERE "thread_id" = NEW."_id";
	UPDATE "chat_shares" SET "space_key" = NEW."space_key" WHERE "thread_id" = NEW."_id";
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "chat_threads_moved" AFTER UPDATE ON "chat_threads" FOR EACH ROW
	WHEN (NEW."space_key" <> OLD."space_key")
	EXECUTE FUNCTION "move_rows_of_thread"();--> statement-breakpoint
CREATE FUNCTION "take_space_of_file"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	"key" uuid;
BEGIN
	SELECT "space_key" INTO "key" FROM "files" WHERE "_id" = NEW."file_id" FOR KEY SHARE;
	IF FOUND THEN
		NEW."space_key" := "key";
	END IF;
	RETURN NEW;
END
$$;--> statement-breakpoint
CREATE TRIGGER "file_shares_space_key" BEFORE INSERT ON "file_shares" FOR EACH ROW
	EXECUTE FUNCTION "take_space_of_file"();--> statement-breakpoint
CREATE FUNCTION "move_links_of_file"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE "file_shares" SET "space_key" = NEW."space_key" WHERE "file_id" = NEW."_id";
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "files_moved" AFTER UPDATE ON "files" FOR EACH ROW
	WHEN (NEW."space_key" <> OLD."space_key")
	EXECUTE FUNCTION "move_links_of_file"();--> statement-breakpoint
-- What lists show of the space and of the person. Locked, so that a change of either is not missed.
CREATE FUNCTION "describe_space_member"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	"space" record;
	"person" record;
BEGIN
	SELECT * INTO "space" FROM "spaces" WHERE "_id" = NEW."space_id" FOR SHARE;
	SELECT * INTO "person" FROM "users" WHERE "_id" = NEW."user_id" FOR SHARE;
	NEW."trashed" := coalesce("space"."trashed", false);
	NEW."trashed_at" := "space"."trashed_at";
	NEW."space_name" := coalesce("space"."name", '');
	NEW."space_slug" := coalesce("space"."slug", '');
	NEW."space_picture_id" := "space"."picture_id";
	NEW."member_name" := "person"."name";
	NEW."member_email" := coalesce("person"."email", '');
	NEW."member_image_url" := "person"."image_url";
	RETURN NEW;
END
$$;--> statement-breakpoint
CREATE TRIGGER "space_members_described" BEFORE INSERT ON "space_members" FOR EACH ROW
	EXECUTE FUNCTION "describe_space_member"();--> statement-breakpoint
CREATE FUNCTION "describe_space_invitation"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	SELECT coalesce(max("name"), '') INTO NEW."space_name"
	FROM (SELECT "name" FROM "spaces" WHERE "_id" = NEW."space_id" FOR SHARE) AS "space";
	RETURN NEW;
END
$$;--> statement-breakpoint
CREATE TRIGGER "space_invitations_described" BEFORE INSERT ON "space_invitations" FOR EACH ROW
	EXECUTE FUNCTION "describe_space_invitation"();--> statement-breakpoint
CREATE FUNCTION "describe_changed_space"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE "space_members" SET
		"trashed" = NEW."trashed", "trashed_at" = NEW."trashed_at",
		"space_name" = NEW."name", "space_slug" = NEW."slug", "space_picture_id" = NEW."picture_id"
	WHERE "space_id" = NEW."_id";
	UPDATE "space_invitations" SET "space_name" = NEW."name" WHERE "space_id" = NEW."_id";
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "spaces_changed" AFTER UPDATE ON "spaces" FOR EACH ROW
	WHEN (NEW IS DISTINCT FROM OLD)
	EXECUTE FUNCTION "describe_changed_space"();--> statement-breakpoint
CREATE FUNCTION "describe_changed_person"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE "space_members" SET
		"member_name" = NEW."name", "member_email" = NEW."email", "member_image_url" = NEW."image_url"
	WHERE "user_id" = NEW."_id";
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "users_changed" AFTER UPDATE ON "users" FOR EACH ROW
	WHEN ((NEW."name", NEW."email", NEW."image_url") IS DISTINCT FROM (OLD."name", OLD."email", OLD."image_url"))
	EXECUTE FUNCTION "describe_changed_person"();
