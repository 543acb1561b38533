import * as v from "valibot"
import { defineChannel, type SqlScope } from "#live/open"
import { defineLiveQuery, defineMutation, type TableDescription } from "../../../live/server/live-query.ts"
import { REFUSAL } from "#live/contract"

/** A small product for the engine to serve: conversations with an owner and messages. */
export const SCHEMA = `
  create table threads (
    _id text primary key, owner text not null, title text not null default '', _creation_time bigint not null default 0
  );
  create unique index threads_range on threads (owner, _id);
  alter table threads replica identity using index threads_range;
  create table messages (
    _id text primary key, thread_id text not null, owner text not null, body text, note text not null default '',
    _creation_time bigint not null default 0
  );
  create unique index messages_range on messages (thread_id, owner, _creation_time, _id);
  alter table messages replica identity using index messages_range;
  alter table messages alter column body set storage external;
  create table drafts (_id text primary key, owner text not null);
  create unique index drafts_range on drafts (owner, _id);
  alter table drafts replica identity using index drafts_range;
`

export interface Viewer {
  id: string
}

export interface ThreadRow {
  _id: string
  owner: string
  title: string
  _creationTime: number
}

export interface MessageRow {
  _id: string
  threadId: string
  owner: string
  body: string | null
  note: string
  _creationTime: number
}

export const threads: TableDescription<ThreadRow> = {
  schema: "public",
  name: "threads",
  identity: ["owner"],
  columns: {
    _id: { name: "_id", decode: String },
    owner: { name: "owner", decode: String },
    title: { name: "title", decode: String },
    _creationTime: { name: "_creation_time", decode: Number },
  },
}

export const messages: TableDescription<MessageRow> = {
  schema: "public",
  name: "messages",
  identity: ["threadId", "owner", "_creationTime"],
  columns: {
    _id: { name: "_id", decode: String },
    threadId: { name: "thread_id", decode: String },
    owner: { name: "owner", decode: String },
    body: { name: "body", decode: String },
    note: { name: "note", decode: String },
    _creationTime: { name: "_creation_time", decode: Number },
  },
}

/** Watched only by the next version of the product. */
export const drafts: TableDescription<{ _id: string; owner: string }> = {
  schema: "public",
  name: "drafts",
  identity: ["owner"],
  columns: { _id: { name: "_id", decode: String }, owner: { name: "owner", decode: String } },
}

const Id = v.pipe(v.string(), v.minLength(1), v.maxLength(100))

/** All messages in a thread, for any viewer: nothing but the range. */
export const inThread = defineLiveQuery({
  name: "messages.inThread",
  description: "For the tests of the engine.",
  args: v.strictObject({ threadId: Id }),
  table: messages,
  range: ({ threadId }, _viewer: Viewer) => ({
    eq: { threadId },
  }),
  order: { field: "_creationTime", direction: "asc" },
})

/** The same for the thread's owner only, for as long as they own it. */
export const inOwnThread = defineLiveQuery({
  name: "messages.inOwnThread",
  description: "For the tests of the engine.",
  args: v.strictObject({ threadId: Id }),
  table: messages,
  range: ({ threadId }, _viewer: Viewer) => ({ eq: { threadId } }),
  authorize: async (viewer, { threadId }, sql) => {
    const own = await sql`select 1 from threads where _id = ${threadId} and owner = ${viewer.id}`
    return own.length > 0
  },
  dependencies: ({ threadId }) => [{ table: threads, eq: { _id: threadId } }],
})

/** The newest ten, and older ones page by page. */
export const newest = defineLiveQuery({
  name: "messages.newest",
  description: "For the tests of the engine.",
  args: v.strictObject({ threadId: Id, after: v.optional(v.pipe(v.string(), v.maxLength(200))) }),
  table: messages,
  range: ({ threadId }, _viewer: Viewer) => ({
    eq: { threadId },
  }),
  order: { field: "_creationTime", direction: "desc" },
  page: { argument: "after", size: 10 },
  fields: ["_creationTime", "body"],
})

export const typing = defineChannel({
  name: "messages.typing",
  description: "For the tests of the engine.",
  query: inThread,
  message: v.strictObject({ at: v.number(), text: v.optional(v.string()) }),
})

export const news = defineChannel({
  name: "messages.news",
  description: "For the tests of the engine.",
  query: inOwnThread,
  message: v.strictObject({ at: v.number() }),
  sentBy: "server",
})

export const typingOlder = defineChannel({
  name: "messages.typingOlder",
  description: "For the tests of the engine.",
  query: newest,
  message: v.strictObject({ at: v.number() }),
})

export const ownTyping = defineChannel({
  name: "messages.ownTyping",
  description: "For the tests of the engine.",
  query: inOwnThread,
  message: v.strictObject({ at: v.number() }),
})

export const ownThreads = defineLiveQuery({
  name: "threads.own",
  description: "For the tests of the engine.",
  args: v.strictObject({}),
  table: threads,
  range: (_args, viewer: Viewer) => ({ eq: { owner: viewer.id } }),
})

/** A projection that needs the whole row. */
export const lengths = defineLiveQuery({
  name: "messages.lengths",
  description: "For the tests of the engine.",
  args: v.strictObject({ threadId: Id }),
  table: messages,
  range: ({ threadId }, _viewer: Viewer) => ({ eq: { threadId } }),
  fields: ["body", "note"],
  project: ({ _id, body, note }) => ({ _id, length: body?.length ?? null, note }),
  row: v.strictObject({ _id: v.string(), length: v.nullable(v.number()), note: v.string() }),
  answer: "row",
})

/** A projection that throws on some rows. */
export const strict = defineLiveQuery({
  name: "messages.strict",
  description: "For the tests of the engine.",
  args: v.strictObject({ threadId: Id }),
  table: messages,
  range: ({ threadId }, _viewer: Viewer) => ({ eq: { threadId } }),
  fields: ["body", "note"],
  project: ({ _id, body, note }) => {
    if (note === "nonsense") throw new Error("This note makes no sense.")
    return { _id, body, note }
  },
  row: v.strictObject({ _id: v.string(), body: v.nullable(v.string()), note: v.string() }),
})

export type Scope = SqlScope<Viewer>

export class Taken extends Error {
  readonly [REFUSAL] = true
  readonly status = 409
}

export const addMessage = defineMutation({
  name: "messages.add",
  description: "For the tests of the engine.",
  args: v.strictObject({ id: Id, threadId: Id, body: v.string() }),
  async run({ viewer, query }: Scope, { id, threadId, body }) {
    const [row] = await query(
      `insert into messages (_id, thread_id, owner, body) values ($1, $2, $3, $4) on conflict do nothing returning _id`,
      [id, threadId, viewer.id, body],
    )
    if (!row) throw new Taken(`There is a message ${id} already.`)
    return { id }
  },
})

export const doNothing = defineMutation({
  name: "messages.touchNothing",
  description: "For the tests of the engine.",
  args: v.strictObject({}),
  async run(_scope: Scope) {},
})

export const fail = defineMutation({
  name: "messages.fail",
  description: "For the tests of the engine.",
  args: v.strictObject({ status: v.optional(v.number()) }),
  async run(_scope: Scope, { status }): Promise<void> {
    throw Object.assign(new Error("a secret of the server"), status === undefined ? {} : { status })
  },
})

/**
 * Tokens are `ada`, `ada@1700000000000` with an expiry in ms, or with a second such time for when
 * the session behind the token ends.
 */
export async function verify(token: string) {
  const [id = "", expiry, end] = token.split("@")
  if (!/^[a-z]+\d*$/.test(id)) return null
  return {
    viewer: { id },
    expiresAt: expiry === undefined ? Date.now() + 3_600_000 : Number(expiry),
    ...(end !== undefined && { endsAt: Number(end) }),
  }
}
