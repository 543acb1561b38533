-- A queued email is announced at its commit, so that a process sends it at once.
CREATE OR REPLACE FUNCTION "announce_queued_emails"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_logical_emit_message(true, 'realtime.announce.mail.queued', '');
	RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "mail_outbox_queued" AFTER INSERT ON "mail_outbox" FOR EACH STATEMENT
	EXECUTE FUNCTION "announce_queued_emails"();
