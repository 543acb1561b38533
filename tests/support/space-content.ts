import type postgres from "postgres"

/** Five people, by what they may do in the space. `removed` was a member. */
export const STANDINGS = ["owner", "editor", "reader", "removed", "outsider"] as const
export type Standing = (typeof STANDINGS)[number]

/** In every text of the space, so that nobody else may ever be sent it. */
export const SECRET = "Zanzibar"

export const SLUG = "engines"
export const LINK_TOKEN = "a".repeat(27)

const id = (number: number | string) => `5eac0000-0000-7000-8000-0000000000${number}`

/** What `laySpace` adds. */
export const THERE = {
  spaceId: id(10),
  trashedSpaceId: id(11),
  linkId: id(20),
  invitationId: id(21),
  threadId: id(30),
  trashedThreadId: id(31),
  messageId: id(40),
  replyId: id(41),
  threadShareId: id(50),
  fileId: id(60),
  trashedFileId: id(61),
  fileShareId: id(70),
  pictureId: id(80),
  waitingId: id(90),
}

/** In a call: what is personal to the caller, and to somebody who is nobody of these. */
export const OWN = { threadId: id("c0"), fileId: id("f0") }
export const OF_ANOTHER = { threadId: id("c5"), fileId: id("f5") }

const TABLES = [
  "spaces",
  "space_members",
  "space_invitations",
  "chat_threads",
  "chat_messages",
  "chat_turns",
  "chat_waiting",
  "chat_reads",
  "chat_shares",
  "files",
  "file_shares",
  "file_usage",
  "uploads",
  "notifications",
]

/**
 * Deletes all spaces, and what was moved out of them, and adds something personal to each person, and one space with a conversation and a file, each also in the trash, links and
 * invitations, and one in the trash. `userIds` are the people, and `storageId` the bytes of a file.
 * `mark` is a part of the spaces' names.
 */
export async function laySpace(
  sql: postgres.Sql,
  userIds: Record<Standing, string>,
  { tokenHash, storageId, mark }: { tokenHash: string; storageId: string; mark: string },
): Promise<void> {
  const { owner, editor, reader, removed } = userIds
  const the = THERE
  const now = Date.now()
  const later = now + 3_600_000
  // In a transaction of its own, before there are secrets: who was a member may have seen it.
  await sql.begin((tx) =>
    tx.unsafe(`
    delete from spaces;
    delete from chat_threads where _id = '${the.threadId}' or title = 'Own';
    delete from files where _id = '${the.fileId}' or file_name = 'own';
    insert into spaces (_id, name, slug) values
      ('${the.spaceId}', 'Engines', '${SLUG}'), ('${the.trashedSpaceId}', 'Trash', 'trash');
    insert into space_pictures (space_id, picture_id, bytes) values ('${the.spaceId}', '${the.pictureId}', 'a picture');
    update spaces set picture_id = '${the.pictureId}' where _id = '${the.spaceId}';
    insert into space_members (space_id, user_id, role)
      select space, person, role from (values ('${the.spaceId}'::uuid), ('${the.trashedSpaceId}')) as spaces (space),
        (values ('${owner}'::uuid, 'owner'), ('${editor}', 'editor'), ('${reader}', 'reader'), ('${removed}', 'editor'))
          as people (person, role);
    ${STANDINGS.map((who) => layOwn(userIds[who], ownOf(who), storageId)).join("")}
  `),
  )
  await sql.begin((tx) =>
    tx.unsafe(`
    delete from space_members where user_id = '${removed}';
    update spaces set name = '${SECRET} ${mark} ' || slug;
    update spaces set trashed = true, trashed_at = ${now} where _id = '${the.trashedSpaceId}';
    insert into space_invitations (_id, space_id, user_id, email, role, token_hash, hint, expires_at) values
      ('${the.linkId}', '${the.spaceId}', '${owner}', '', 'reader', '${tokenHash}', '${SECRET}', ${later}),
      ('${the.invitationId}', '${the.spaceId}', '${owner}', 'nobody@example.org', 'reader', '${"b".repeat(64)}', '', ${later});
    insert into chat_threads (_id, user_id, title, last_message_at, space_id, trashed, trashed_at) values
      ('${the.threadId}', '${editor}', '${SECRET} talk', 1, '${the.spaceId}', false, null),
      ('${the.trashedThreadId}', '${removed}', '${SECRET} deleted', 1, '${the.spaceId}', true, ${now});
    insert into chat_messages (_id, user_id, thread_id, role, content, edited) values
      ('${the.messageId}', '${editor}', '${the.threadId}', 'user', '${SECRET} asked', true),
      ('${the.replyId}', '${editor}', '${the.threadId}', 'assistant', '${SECRET} answered', false);
    insert into chat_turns (_id, user_id, thread_id, question_id, request_id, status, model) values
      ('${the.replyId}', '${editor}', '${the.threadId}', '${the.messageId}', 'first', 'completed', '${SECRET}');
    insert into chat_waiting (_id, user_id, thread_id, place, request_id, content, state, ended_at, space_key) values
      ('${the.waitingId}', '${editor}', '${the.threadId}', 1, 'waits', '${SECRET} waits', 'passed', ${now}, '${the.spaceId}');
    insert into chat_replaced_messages (user_id, thread_id, role, content, replaced_by, replaced_at) values
      ('${editor}', '${the.threadId}', 'user', '${SECRET} before', '${the.messageId}', 1);
    insert into chat_shares (_id, user_id, thread_id, token_hash, hint) values
      ('${the.threadShareId}', '${editor}', '${the.threadId}', '${"c".repeat(64)}', '${SECRET}');
    insert into files (_id, storage_id, user_id, file_name, mime_type, size, space_id, trashed, trashed_at) values
      ('${the.fileId}', '${storageId}', '${removed}', '${SECRET}.txt', 'text/plain', 8, '${the.spaceId}', false, 0),
      ('${the.trashedFileId}', '${storageId}', '${removed}', '${SECRET}.old', 'text/plain', 8, '${the.spaceId}', true, ${now});
    insert into file_shares (_id, user_id, file_id, token_hash, hint) values
      ('${the.fileShareId}', '${removed}', '${the.fileId}', '${"d".repeat(64)}', '${SECRET}');
    insert into notifications (user_id, space_id, thread_id, message_id, author_name, excerpt, in_app)
      select user_id, space_id, '${the.threadId}', '${the.messageId}', '${SECRET}', '${SECRET}', true
        from space_members where space_id = '${the.spaceId}';
  `),
  )
}

/** A hash of every row that is or can be in a space, to compare. */
export async function hashOfContent(sql: postgres.Sql): Promise<string> {
  const texts = TABLES.map(
    (name) => `(select coalesce(string_agg(t::text, ',' order by _id), '') from ${name} t)`,
  )
  const [row] = await sql.unsafe(`select md5(concat(${texts.join(", ")})) as hash`)
  return String(row?.["hash"])
}

/** A call as this person sends it. */
export function asSentBy(who: string, call: string): string {
  const own = ownOf(who)
  return call.replaceAll(OWN.threadId, own.threadId).replaceAll(OWN.fileId, own.fileId)
}

/** A call with ids that nothing has. */
export function ofNothing(call: string): string {
  return call.replaceAll(id(""), id("").replace("5eac", "0bad"))
}

function layOwn(userId: string, { threadId, fileId }: typeof OWN, storageId: string): string {
  return `
    insert into chat_threads (_id, user_id, title, last_message_at) values ('${threadId}', '${userId}', 'Own', 1);
    insert into files (_id, storage_id, user_id, file_name, mime_type, size) values
      ('${fileId}', '${storageId}', '${userId}', 'own', 'text/plain', 8);`
}

function ownOf(who: string): typeof OWN {
  const at = STANDINGS.findIndex((standing) => standing === who) + 1
  return { threadId: id(`c${at}`), fileId: id(`f${at}`) }
}
