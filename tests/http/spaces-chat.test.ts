import postgres from "postgres"
import { beforeAll, beforeEach, describe, expect, it } from "vitest"
import type { ThreadSummary } from "#server/chat/contract.ts"
import type { Entry } from "#server/chat/read-operations.ts"
import type { SpaceSummary } from "#server/spaces/contract.ts"
import { hashLinkToken } from "#server/link-token.ts"
import { post, postAsync } from "../support/api.ts"
import { openLiveSocket, realtimeToken, type LiveSocket } from "../support/live.ts"
import { openBrowser, signUp, type Person } from "../support/people.ts"
import { withTideline } from "../support/with-tideline.ts"

const ROLES = ["owner", "editor", "reader", "removed", "outsider"] as const
type Role = (typeof ROLES)[number]

let people: Record<Role, Person>
let ids: Record<Role, string>
let space: SpaceSummary
/** A conversation of the owner's in the space, and what is in it. */
let there: Awaited<ReturnType<typeof addConversation>>

const { app, sql } = withTideline({
  settings: { SPACES: "on", CHAT_RATE_LIMIT: "1000", CHAT_TURNS_AT_ONCE: "50" },
  connections: 2,
})

beforeAll(async () => {
  const signedUp = await Promise.all(
    ROLES.map(async (role) => {
      const person = await signUp(app, { name: `The ${role}`, email: `${role}@example.org` })
      // The first request creates the record.
      await person("/api/chat/threads")
      const [user] = await sql`select _id from users where email = ${person.email}`
      return { person, id: String(user?.["_id"]) }
    }),
  )
  people = byRole(signedUp.map(({ person }) => person))
  ids = byRole(signedUp.map(({ id }) => id))
})
beforeEach(async () => {
  await sql`delete from spaces`
  await withSocket("owner", async (socket) => {
    const made = await socket.mutate("spaces.create", { name: "Engines" })
    if ("error" in made) throw new Error(JSON.stringify(made.error))
    space = made.value as SpaceSummary
  })
  for (const role of ["editor", "reader"] as const)
    await sql`insert into space_members (space_id, user_id, role) values (${space._id}, ${ids[role]}, ${role})`
  there = await addConversation()
})

describe("conversations in a space", () => {
  it("say where they are and who wrote each message, and are in no member's own list", async () => {
    await people.editor(
      "/api/chat",
      postAsync({ threadId: there.threadId, messages: [question("Hi", "hi")] }),
    )
    await people.owner(`/api/chat/threads/${there.threadId}/stop`, { method: "POST" })
    const { thread } = await read<{ thread: ThreadSummary }>("reader", `/api/chat/threads/${there.threadId}`)
    expect(thread.spaceId).toBe(space._id)
    const { entries } = await messages("reader")
    expect(entries.map(({ role, userId }) => [role, userId])).toEqual([
      ["user", ids.owner],
      ["assistant", ids.owner],
      ["user", ids.editor],
      ["assistant", ids.editor],
    ])
    for (const role of ROLES) {
      const { threads } = await read<{ threads: ThreadSummary[] }>(role, "/api/chat/threads")
      expect(threads, role).toEqual([])
    }
    const found = await read<{ results: unknown[] }>("owner", "/api/chat/search?q=Beginning")
    expect(found.results).toEqual([])
  })

  it("answer one message at a time, no matter who sends the next", async () => {
    const { threadId } = there
    const first = await people.owner("/api/chat", postAsync({ threadId, messages: [question("/slow", "a")] }))
    expect(first.status).toBe(202)
    const second = await people.editor("/api/chat", postAsync({ threadId, messages: [question("Hi", "b")] }))
    expect([second.status, await second.json()]).toMatchObject([409, { reason: "reply-running" }])
    expect((await people.editor(`/api/chat/threads/${threadId}/stop`, { method: "POST" })).status).toBe(200)
    const third = await people.editor("/api/chat", postAsync({ threadId, messages: [question("Hi", "b")] }))
    expect(third.status).toBe(202)
  })

  it("let a message wait for its turn with its files, where everybody sees it, if its sender asks for that", async () => {
    const { threadId } = there
    const form = new FormData()
    form.set("file", new File(["High water at noon."], "tides.txt", { type: "text/plain" }))
    const uploaded = await people.owner(`/api/files?spaceId=${space._id}`, { method: "POST", body: form })
    const { files } = (await uploaded.json()) as { files: { _id: string }[] }
    const { parts, ...second } = question("Read this", "b")
    const attached = { type: "data-file", data: { fileId: files[0]?._id } }
    const body = { threadId, mayWait: true, messages: [{ ...second, parts: [...parts, attached] }] }
    await people.owner("/api/chat", postAsync({ threadId, messages: [question("/slow", "a")] }))
    expect((await people.editor("/api/chat", post(body))).status).toBe(400)
    const waits = await people.editor("/api/chat", postAsync(body))
    expect([waits.status, await waits.json()]).toEqual([
      202,
      { threadId, waitingId: expect.any(String), ahead: 0 },
    ])
    const line = async (role: (typeof ROLES)[number]) =>
      (await people[role](`/api/chat/threads/${threadId}/waiting`)).json()
    expect(await line("reader")).toMatchObject({
      waiting: [{ userId: ids.editor, requestId: "b", content: "Read this", state: "waiting" }],
    })
    expect(await line("outsider")).toMatchObject({ reason: "no-such-conversation" })
    await people.owner(`/api/chat/threads/${threadId}/stop`, { method: "POST" })
    await expect.poll(() => line("reader")).toEqual({ waiting: [] })
    const { entries } = await messages("reader")
    expect(entries.at(-2)).toMatchObject({
      userId: ids.editor,
      requestId: "b",
      attachments: [{ fileName: "tides.txt" }],
    })
    expect(entries.at(-1)).toMatchObject({ userId: ids.editor, role: "assistant" })
    await people.owner(`/api/chat/threads/${threadId}/stop`, { method: "POST" })
  })

  it("are created where the request says, or not at all", async () => {
    expect((await sayHi({ threadId: there.threadId, spaceId: space._id })).status).toBe(400)
    const elsewhere = { threadId: crypto.randomUUID(), createThread: true, spaceId: crypto.randomUUID() }
    expect((await sayHi(elsewhere)).status).toBe(404)
    const own = { threadId: crypto.randomUUID(), createThread: true }
    expect((await sayHi(own)).status).toBe(202)
    expect((await sayHi({ ...own, spaceId: space._id })).status).toBe(404)
  })

  it("take only files that everybody in the space may open", async () => {
    const form = new FormData()
    form.set("file", new File(["private"], "private.txt", { type: "text/plain" }))
    const uploaded = await people.owner("/api/files", { method: "POST", body: form })
    const { files } = (await uploaded.json()) as { files: { _id: string }[] }
    const message = question("Read this", "files")
    const withFile = {
      ...message,
      parts: [...message.parts, { type: "data-file", data: { fileId: files[0]?._id } }],
    }
    const response = await people.owner(
      "/api/chat",
      postAsync({ threadId: there.threadId, messages: [withFile] }),
    )
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining('"reason":"attachment-unknown"'),
    ])
  })
})

describe("a member who is removed while a reply grows", () => {
  it.each(["editor", "reader"] as const)(
    "receives nothing that was written after it, as the %s",
    async (role) => {
      const { threadId } = there
      const asker = role === "editor" ? people.editor : people.owner
      const asked = await asker("/api/chat", post({ threadId, messages: [question("/slow", "s")] }))
      const stream = role === "editor" ? asked : await people[role](`/api/chat/${threadId}/stream`)
      expect(stream.status).toBe(200)
      await expect.poll(() => writtenIn(sql, threadId)).not.toBe("")

      const atRemoval = await sql.begin(async (tx) => {
        await tx`lock table chat_chunks in share mode`
        await tx`delete from space_members where user_id = ${ids[role]}`
        return writtenIn(tx, threadId)
      })
      // It ends although the reply continues for the others.
      const received = textOf(await stream.text())
      await expect.poll(() => writtenIn(sql, threadId)).not.toBe(atRemoval)
      expect(atRemoval.startsWith(received)).toBe(true)
      expect((await people[role](`/api/chat/threads/${threadId}`)).status).toBe(404)
      await people.owner(`/api/chat/threads/${threadId}/stop`, { method: "POST" })
      expect((await messages("owner")).entries.at(-1)).toMatchObject({ turn: { status: "stopped" } })
    },
  )
})

describe("a link to a conversation in a space", () => {
  it("shows it to visitors for as long as the person who created it is a member", async () => {
    const { threadId } = there
    const made = await people.editor(`/api/chat/threads/${threadId}/shares`, post({}))
    const { url } = (await made.json()) as { url: string }
    const visit = async () => (await openBrowser(app)(url)).status
    expect(await visit()).toBe(200)
    await sql`delete from space_members where user_id = ${ids.editor}`
    expect(await visit()).toBe(404)
  })

  it("does not exist while the conversation is in the trash, for somebody who could not revoke it before", async () => {
    const revoke = () => people.reader(`/api/chat/shares/${there.shareId}`, { method: "DELETE" })
    expect((await revoke()).status).toBe(403)
    await sql`update chat_threads set trashed = true, trashed_at = 1 where _id = ${there.threadId}`
    expect((await revoke()).status).toBe(404)
  })
})

/** With a message that was edited, its reply, and a link. Another one is in the trash. */
async function addConversation() {
  const userId = ids.owner
  const [thread] = await sql`
    insert into chat_threads (user_id, title, last_message_at, space_id)
    values (${userId}, 'Beginning', 1, ${space._id}) returning _id`
  const threadId = String(thread?.["_id"])
  const [trashed] = await sql`
    insert into chat_threads (user_id, title, last_message_at, space_id, trashed, trashed_at)
    values (${userId}, 'Deleted', 1, ${space._id}, true, ${Date.now()}) returning _id`
  const add = async (role: string, content: string) => {
    const [message] = await sql`
      insert into chat_messages (user_id, thread_id, role, content, edited)
      values (${userId}, ${threadId}, ${role}, ${content}, ${role === "user"}) returning _id`
    return String(message?.["_id"])
  }
  const questionId = await add("user", "Beginning")
  const answerId = await add("assistant", "An answer.")
  await sql`
    insert into chat_turns (_id, user_id, thread_id, question_id, request_id, status, model)
    values (${answerId}, ${userId}, ${threadId}, ${questionId}, 'first', 'completed', 'a-model')`
  await sql`
    insert into chat_replaced_messages (user_id, thread_id, role, content, replaced_by, replaced_at)
    values (${userId}, ${threadId}, 'user', 'Start', ${questionId}, 1)`
  const [share] = await sql`
    insert into chat_shares (user_id, thread_id, token_hash, hint)
    values (${userId}, ${threadId}, ${hashLinkToken(threadId)}, 'abcd') returning _id`
  return { threadId, trashedId: String(trashed?.["_id"]), questionId, shareId: String(share?.["_id"]) }
}

/** The text so far of the reply that is being generated. */
async function writtenIn(db: postgres.ISql, threadId: string): Promise<string> {
  const rows = await db`
    select part ->> 'text' as text from chat_chunks, jsonb_array_elements(delta) with ordinality as parts (part, place)
    where thread_id = ${threadId} and part ->> 'type' = 'text' order by seq, place`
  return rows.map((row) => String(row["text"])).join("")
}

function textOf(stream: string): string {
  const deltas = stream.matchAll(/^data: (\{"type":"text-delta".*\})$/gm)
  return [...deltas].map(([, chunk = ""]) => (JSON.parse(chunk) as { delta: string }).delta).join("")
}

function sayHi(more: object) {
  return people.owner("/api/chat", postAsync({ messages: [question("Hi", "x")], ...more }))
}

function question(text: string, id: string) {
  return { id, role: "user", parts: [{ type: "text", text }] as object[] }
}

function messages(role: Role) {
  return read<{ entries: Entry[] }>(role, `/api/chat/threads/${there.threadId}/messages`)
}

async function read<Body>(role: Role, path: string): Promise<Body> {
  const response = await people[role](path)
  expect(response.status, path).toBe(200)
  return (await response.json()) as Body
}

async function withSocket(role: Role, act: (socket: LiveSocket) => Promise<void>) {
  const socket = await openLiveSocket(app, await realtimeToken(people[role]))
  try {
    await act(socket)
  } finally {
    socket.close()
  }
}

function byRole<Value>(values: Value[]): Record<Role, Value> {
  return Object.fromEntries(ROLES.map((role, place) => [role, values[place]])) as Record<Role, Value>
}
