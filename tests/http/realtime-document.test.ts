import specification from "@asyncapi/specs/schemas/3.0.0-without-$id.json" with { type: "json" }
import { Ajv } from "ajv"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { CommitEvent, SnapshotEvent } from "#live/contract"
import { openLiveSocket, realtimeToken, type LiveSocket } from "../support/live.ts"
import { ada, postJson } from "../support/people.ts"
import {
  mustMatchMessage,
  mustMatchSchema,
  readRealtimeDocument,
  type RealtimeDocument,
} from "../support/realtime-document.ts"
import { withTideline } from "../support/with-tideline.ts"

const UNKNOWN = "01a1fabb-7bb3-7c55-803b-f2a3db625462"

let hers: LiveSocket
let document: RealtimeDocument
const own = { clerkId: "", userId: "", threadId: "", fileIds: [] as string[], shareId: "", threadShareId: "" }
/** In her spaces. */
let hersInSpaces: Awaited<ReturnType<typeof makeSpaces>>

const { app, sql, adaAtHome } = withTideline({ settings: { SPACES: "on" }, people: { adaAtHome: ada } })

beforeAll(async () => {
  document = await readRealtimeDocument(app.origin)
  hers = await openLiveSocket(app, await realtimeToken(adaAtHome))
  const [user] = await sql`select _id, clerk_id from users where email = ${ada.email}`
  Object.assign(own, { userId: user!["_id"], clerkId: user!["clerk_id"] })
  await makeOneRowOfEachKind()
  hersInSpaces = await makeSpaces(own.userId, ada.email)
})

afterAll(async () => {
  hers.close()
})

async function makeOneRowOfEachKind() {
  own.threadId = ((await call("chat.createThread", { title: "Tides" })) as { _id: string })._id
  for (const name of ["a.txt", "b.txt", "c.txt"]) {
    const uploaded = await adaAtHome(`/api/files?name=${name}`, { method: "POST", body: "High water." })
    own.fileIds.push((await uploaded.json()).files[0]._id)
  }
  await call("files.remove", { fileId: own.fileIds[2] })
  own.shareId = await share(`/api/files/${own.fileIds[0]}/shares`)
  own.threadShareId = await share(`/api/chat/threads/${own.threadId}/shares`)
  const attachments = sql.json([
    { fileId: own.fileIds[0]!, fileName: "a.txt", mimeType: "text/plain", size: 11 },
  ])
  const parts = sql.json([
    { type: "reasoning", text: "Hm." },
    { type: "tool", callId: "1", name: "currentTime", input: {}, output: "noon" },
    { type: "text", text: "At noon." },
  ])
  await sql`
    with question as (
      insert into chat_messages (user_id, thread_id, role, content, attachments)
      values (${own.userId}, ${own.threadId}, 'user', 'When?', ${attachments}) returning *
    ), answer as (
      insert into chat_messages (user_id, thread_id, role, content)
      select user_id, thread_id, 'assistant', 'At noon.' from question returning *
    ), turn as (
      insert into chat_turns (_id, user_id, thread_id, question_id, request_id, status, model, parts)
      select answer._id, question.user_id, question.thread_id, question._id, 'q1', 'running', 'a model', ${parts}
      from answer join question using (thread_id) returning *
    )
    insert into chat_chunks (user_id, thread_id, turn_id, seq, delta)
    select user_id, thread_id, _id, 0,
      ${sql.json([
        { type: "text", id: "0", text: "At" },
        { type: "tool", callId: "1", name: "currentTime" },
      ])}
    from turn`
}

async function share(path: string): Promise<string> {
  const shared = await postJson(adaAtHome, path, {})
  return ((await shared.json()) as { share: { _id: string } }).share._id
}

/** Calls a mutation and returns its value. Throws if it is refused. */
async function call(name: string, args: object): Promise<unknown> {
  const answer = await hers.mutate(name, args)
  if ("error" in answer) throw new Error(`${name}: ${answer.error.message}`)
  return answer.value
}

/** A space of hers with a second member, one in her trash, and two that somebody else invited her to. */
async function makeSpaces(userId: string, email: string) {
  const create = async (name: string) => ((await call("spaces.create", { name })) as { _id: string })._id
  const [spaceId, trashedId] = [await create("Tides"), await create("Neaps")]
  await call("spaces.remove", { spaceId: trashedId })
  await call("files.copy", { fileIds: own.fileIds.slice(0, 1), spaceId })
  const users = await sql`
    insert into users (clerk_id, email) values ('user_mate', 'mate@example.org'), ('user_bosun', 'b@example.org')
    returning _id`
  const [mateId, bosunId] = users.map(({ _id }) => String(_id))
  await sql`
    insert into space_members (space_id, user_id, role)
    values (${spaceId}, ${mateId!}, 'editor'), (${spaceId}, ${bosunId!}, 'reader')`
  const [notified] = await sql`
    with thread as (
      insert into chat_threads (user_id, title, last_message_at, space_id)
      values (${mateId!}, 'When?', 1, ${spaceId}) returning *
    ), message as (
      insert into chat_messages (user_id, thread_id, role, content, mentions)
      select user_id, _id, 'user', '@Ada Lovelace, when?', '["Ada Lovelace"]' from thread returning *
    )
    insert into notifications (user_id, space_id, thread_id, message_id, author_id, author_name, excerpt, in_app)
    select ${userId}, ${spaceId}, thread_id, _id, user_id, 'Mate', content, true from message
    returning thread_id as "threadId"`
  const [waits] = await sql`
    insert into chat_waiting (user_id, thread_id, place, request_id, content, state, ended_at, space_key)
    values (${userId}, ${notified?.["threadId"]}, 1, 'w1', 'And when is low water?', 'withdrawn', ${Date.now()}, ${spaceId})
    returning _id`
  await sql`
    insert into chat_reads (user_id, thread_id, message_count, read_at, space_key)
    values (${userId}, ${notified?.["threadId"]}, 0, 1, ${spaceId})`
  const others = await sql`
    insert into spaces (name, slug) values ('Ports', 'ports'), ('Piers', 'piers') returning _id`
  const invite = async (into: string, to: string, from: string) => {
    const [made] = await sql`
      insert into space_invitations (space_id, email, role, token_hash, hint, expires_at, user_id)
      values (${into}, ${to}, 'editor', ${crypto.randomUUID().replaceAll("-", "").repeat(2)}, 'HINT', 4102444800000, ${from})
      returning _id`
    return String(made?.["_id"])
  }
  await sql`update auth.user set email_verified = true where email = ${email}`
  const [joinedId, declinedId] = others.map(({ _id }) => String(_id))
  return {
    spaceId,
    threadId: String(notified?.["threadId"]),
    waitingId: String(waits?.["_id"]),
    trashedId,
    joinedId: joinedId!,
    mateId: mateId!,
    bosunId: bosunId!,
    invitationId: await invite(spaceId, "", userId),
    acceptedId: await invite(joinedId!, email, mateId!),
    declinedId: await invite(declinedId!, email, mateId!),
  }
}

/** What each query is asked with, so that it has a row. */
const ARGUMENTS: Record<string, () => object> = {
  "users.getUserByClerkId": () => ({ clerkId: own.clerkId }),
  "files.getFile": () => ({ fileId: own.fileIds[0] }),
  "files.getRevision": () => ({ spaceId: hersInSpaces.spaceId }),
  "chat.listMessages": () => ({ threadId: own.threadId }),
  "chat.listTurns": () => ({ threadId: own.threadId }),
  "chat.listChunks": () => ({ threadId: own.threadId }),
  "chat.listReads": () => ({ spaceId: hersInSpaces.spaceId }),
  "chat.listWaiting": () => ({ threadId: hersInSpaces.threadId, spaceId: hersInSpaces.spaceId }),
  "chat.listShares": () => ({ threadId: own.threadId }),
  "spaces.members": () => ({ spaceId: hersInSpaces.spaceId }),
  "spaces.invitations": () => ({ spaceId: hersInSpaces.spaceId }),
}

function argumentsOf(name: string) {
  return ARGUMENTS[name]?.() ?? {}
}

/** What each mutation is called with, in this order. */
const calls = (): Record<string, Record<string, unknown>> => ({
  "files.rename": { fileId: own.fileIds[0], fileName: "tides.txt" },
  "files.remove": { fileId: own.fileIds[1] },
  "files.restore": { fileId: own.fileIds[1] },
  "files.purge": { fileId: own.fileIds[2] },
  "files.removeMany": { fileIds: own.fileIds },
  "files.removeAll": { q: "no such name" },
  "files.restoreMany": { fileIds: own.fileIds },
  "files.purgeMany": { fileIds: [UNKNOWN] },
  "files.copy": { fileIds: [own.fileIds[0]], spaceId: hersInSpaces.spaceId },
  "files.move": { fileIds: [own.fileIds[1]], spaceId: hersInSpaces.spaceId },
  "files.emptyTrash": {},
  "files.revokeShare": { shareId: own.shareId },
  "chat.createThread": { question: "When is high water?" },
  "chat.renameThread": { threadId: own.threadId, title: "Currents" },
  "chat.markRead": { threadId: hersInSpaces.threadId },
  "chat.setPeopleOnly": { threadId: hersInSpaces.threadId, peopleOnly: true },
  "chat.stop": { threadId: own.threadId },
  "chat.withdraw": { waitingId: hersInSpaces.waitingId },
  "chat.revokeShare": { shareId: own.threadShareId },
  "chat.removeThread": { threadId: own.threadId },
  "chat.restoreThread": { threadId: own.threadId },
  "chat.copyThread": { threadId: hersInSpaces.threadId },
  "users.createOrUpdateUser": { clerkId: own.clerkId, email: ada.email, name: ada.name, plan: "free" },
  "users.saveProfile": { name: "Ada King" },
  "users.finishOnboardingStep": { step: "welcome" },
  "users.reopenOnboardingStep": { step: "welcome" },
  "users.completeOnboarding": {},
  "notifications.markRead": {},
  "spaces.create": { name: "Springs" },
  "spaces.change": { spaceId: hersInSpaces.spaceId, name: "Ebb tides", slug: "ebb-tides" },
  "spaces.setRole": { spaceId: hersInSpaces.spaceId, userId: hersInSpaces.bosunId, role: "editor" },
  "spaces.removeMember": { spaceId: hersInSpaces.spaceId, userId: hersInSpaces.bosunId },
  "spaces.revokeInvitation": { invitationId: hersInSpaces.invitationId },
  "spaces.accept": { invitationId: hersInSpaces.acceptedId },
  "chat.moveThread": { threadId: hersInSpaces.threadId, spaceId: hersInSpaces.joinedId },
  "spaces.decline": { invitationId: hersInSpaces.declinedId },
  "spaces.leave": { spaceId: hersInSpaces.joinedId },
  "spaces.restore": { spaceId: hersInSpaces.trashedId },
  "spaces.remove": { spaceId: hersInSpaces.trashedId },
  "spaces.transfer": { spaceId: hersInSpaces.spaceId, userId: hersInSpaces.mateId },
})

describe("the AsyncAPI document", () => {
  test("is valid AsyncAPI 3", () => {
    const validator = new Ajv({ strict: false, validateFormats: false })
    // The schema names its dialect without the final `#` by which Ajv knows it.
    const validate = validator.compile({
      ...specification,
      $schema: "http://json-schema.org/draft-07/schema#",
    })
    const withoutChannels = { ...document, channels: 1 }

    expect([validate(document), validate.errors]).toEqual([true, null])
    expect(validate(withoutChannels)).toBe(false)
  })

  test("links to documentation that exists", async () => {
    expect((await fetch(document.info.externalDocs.url)).status).toBe(200)
  })

  test("describes every query, mutation and channel in a sentence", () => {
    const functions = [...document["x-queries"], ...document["x-mutations"], ...document["x-channels"]]
    expect(functions.length).toBeGreaterThan(25)
    expect(functions.filter(({ description }) => !/^[A-Z].*\.$/.test(description))).toEqual([])
    expect(new Set(functions.map(({ name }) => name)).size).toBe(functions.length)
  })

  test("has the schema of every reference", () => {
    const references = JSON.stringify(document).matchAll(/"#\/components\/(schemas|messages)\/([^"]+)"/g)
    const known: Record<string, object> = { ...document.components.schemas, ...document.components.messages }
    expect([...references].map(([, , name]) => name).filter((name) => !known[name!])).toEqual([])
  })
})

describe("every query", () => {
  test("returns rows as described, in the order and pages described", async () => {
    let id = 100
    for (const { name, order, page, answer } of document["x-queries"]) {
      const args = argumentsOf(name)
      mustMatchSchema(document, `${name}.arguments`, args)

      const once = await hers.query(name, args)
      mustMatchMessage(document, "query.answer", once)
      if ("error" in once) throw new Error(`${name}: ${once.error.message}`)
      expect([name, Array.isArray(once.value)]).toEqual([name, answer === "rows"])

      const subscription = (id += 1)
      const accepted = await hers.subscribe(name, args, subscription)
      mustMatchMessage(document, "subscribe.answer", accepted)
      const snapshot = (await hers.until(
        ({ name: kind, event }) =>
          kind === "snapshot" &&
          (event as SnapshotEvent).subscriptions.some((each) => each.id === subscription),
      )) as SnapshotEvent
      mustMatchMessage(document, "snapshot", snapshot)
      const part = snapshot.subscriptions.find((each) => each.id === subscription)
      if (part?.kind !== "rows") throw new Error(`${name} sent no rows.`)
      expect([name, part.order]).toEqual([name, order])
      // In maintenance mode, which has the row, sockets are closed.
      if (name !== "maintenance.listClosures") expect([name, part.rows.length]).not.toEqual([name, 0])
      for (const row of part.rows) mustMatchSchema(document, `${name}.row`, row)
      if (page) expect(await hers.query(name, { ...args, [page.argument]: "" })).toHaveProperty("error.code")
    }
  })

  test("refuses arguments that its schema does not describe", async () => {
    for (const { name } of document["x-queries"]) {
      const args = { ...argumentsOf(name), extra: 1 }
      expect(() => mustMatchSchema(document, `${name}.arguments`, args)).toThrow("additional properties")
      expect([name, await hers.query(name, args)]).toMatchObject([name, { error: { code: "invalid" } }])
    }
  })

  test("that takes the id of a conversation refuses an unknown one as described", async () => {
    for (const { name, refusals } of document["x-queries"]) {
      if (!("threadId" in argumentsOf(name))) continue
      expect(refusals).toHaveProperty("not_found")
      expect(await hers.query(name, { ...argumentsOf(name), threadId: UNKNOWN })).toMatchObject({
        error: { code: "not_found" },
      })
    }
  })
})

describe("every mutation", () => {
  test("that takes an id refuses an unknown one as described", async () => {
    for (const { name, refusals } of document["x-mutations"]) {
      const args = calls()[name] ?? {}
      const field = Object.keys(args).find((each) => /^(file|thread|share|space|invitation)Id$/.test(each))
      if (!field) continue
      expect(refusals).toHaveProperty("not_found")
      const answer = await hers.mutate(name, { ...args, [field]: UNKNOWN })
      mustMatchMessage(document, "mutate.answer", answer)
      expect([name, answer]).toMatchObject([name, { error: { code: "not_found" } }])
    }
  })

  test("returns a value as described", async () => {
    const called = calls()
    expect(Object.keys(called).toSorted()).toEqual(document["x-mutations"].map(({ name }) => name).toSorted())
    for (const [name, args] of Object.entries(called)) {
      mustMatchSchema(document, `${name}.arguments`, args)
      mustMatchSchema(document, `${name}.value`, await call(name, args))
    }
  })

  test("refuses arguments that its schema does not describe", async () => {
    for (const { name } of document["x-mutations"]) {
      expect(() => mustMatchSchema(document, `${name}.arguments`, 7)).toThrow("object")
      expect([name, await hers.mutate(name, 7)]).toMatchObject([name, { error: { code: "invalid" } }])
    }
  })
})

test("every channel is joined beside its query, and takes the message described and no other", async () => {
  const messages: Record<string, object> = {
    "chat.presence": { userId: own.userId, state: "writing" },
    "spaces.presence": { userId: own.userId },
    "files.uploads": {
      uploadId: UNKNOWN,
      userId: own.userId,
      fileName: "a.txt",
      received: 1,
      size: null,
      isOver: false,
    },
    "demo.audience": { boat: "Petrel" },
  }
  const other = await openLiveSocket(app, await realtimeToken(adaAtHome))
  let id = 1000
  expect(Object.keys(messages).toSorted()).toEqual(document["x-channels"].map(({ name }) => name).toSorted())
  for (const { name, query, sentBy } of document["x-channels"]) {
    id += 1
    mustMatchSchema(document, `${name}.message`, messages[name])
    expect(() => mustMatchSchema(document, `${name}.message`, { text: "ahoy" })).toThrow("must")
    for (const socket of [hers, other]) {
      await socket.subscribe(query, argumentsOf(query), id)
      const joined = await socket.join(name, id)
      mustMatchMessage(document, "join.answer", joined)
      expect(joined).toHaveProperty("value.member")
    }
    const sent = await other.broadcast(name, messages[name], id)
    mustMatchMessage(document, "broadcast.answer", sent)
    if (sentBy === "server") {
      expect(sent).toMatchObject({ error: { code: "forbidden" } })
      continue
    }
    expect(sent).toEqual({ value: null })
    expect(await other.broadcast(name, { text: "ahoy" }, id)).toMatchObject({ error: { code: "invalid" } })
    await hers.until(({ name: event }) => event === "message")
    await hers.until(({ name: event }) => event === "members")
  }
  other.close()
})

test("every event matches its description", async () => {
  const renamed = await hers.mutate("files.rename", { fileId: own.fileIds[0], fileName: "ebb.txt" })
  if ("error" in renamed) throw new Error(renamed.error.message)
  await hers.until(
    ({ name, event }) => name === "commit" && (event as CommitEvent).xids.includes(renamed.xid),
  )
  for (const { name, event } of hers.received) mustMatchMessage(document, name, event)
  expect(new Set(hers.received.map(({ name }) => name))).toContain("commit")
})
