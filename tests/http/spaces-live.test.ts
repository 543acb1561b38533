import { beforeAll, beforeEach, describe, expect, it } from "vitest"
import type { SpaceSummary } from "#server/spaces/contract.ts"
import { openLiveSocket, realtimeToken, type LiveSocket } from "../support/live.ts"
import { ada as adaLovelace, grace as graceHopper, signUp, type Person } from "../support/people.ts"
import { withTideline } from "../support/with-tideline.ts"

let people: { ada: Person; grace: Person; eve: Person }
let ids: { ada: string; grace: string }
/** Ada owns the space, Grace may edit in it, and Eve is no member. */
let ada: LiveSocket
let grace: LiveSocket
let eve: LiveSocket
let space: SpaceSummary
let threadId: string

const { app, sql } = withTideline({ settings: { SPACES: "on" }, connections: 2 })

beforeAll(async () => {
  people = {
    ada: await signUp(app, adaLovelace),
    grace: await signUp(app, graceHopper),
    eve: await signUp(app, { name: "Eve", email: "eve@example.org" }),
  }
  for (const person of Object.values(people)) await realtimeToken(person)
})
beforeEach(async () => {
  for (const socket of [ada, grace, eve] as (LiveSocket | undefined)[]) socket?.close()
  ada = await openLiveSocket(app, await realtimeToken(people.ada))
  grace = await openLiveSocket(app, await realtimeToken(people.grace))
  eve = await openLiveSocket(app, await realtimeToken(people.eve))
  await sql`delete from spaces`
  space = await value<SpaceSummary>(ada, "spaces.create", { name: "Engines" })
  ids = { ada: await idOf(adaLovelace.email), grace: await idOf(graceHopper.email) }
  await sql`insert into space_members (space_id, user_id, role) values (${space._id}, ${ids.grace}, 'editor')`
  const thread = await value<{ _id: string }>(ada, "chat.createThread", {
    title: "Shared",
    spaceId: space._id,
  })
  threadId = thread._id
})

describe("in a space", () => {
  it("members see each other's rows live, and what is personal stays so", async () => {
    await follow(ada, "chat.listThreads", { spaceId: space._id }, 1)
    await follow(grace, "chat.listThreads", {}, 2)
    await value(grace, "chat.createThread", { title: "Hers alone" })
    await value(grace, "chat.createThread", { title: "For both", spaceId: space._id })
    await seen(ada, "For both")
    await seen(grace, "Hers alone")
    await say("a marker")
    expect(JSON.stringify(ada.received)).not.toContain("Hers alone")
    expect(JSON.stringify(grace.received)).not.toContain("For both")
  })

  it("a member's rows in it are not among their own", async () => {
    for (const query of ["chat.listMessages", "chat.listTurns", "chat.listChunks"])
      expect(await ada.query(query, { threadId })).toMatchObject({ error: { code: "not_found" } })
  })

  it("a removed member receives no row that was committed after the removal, however close", async () => {
    await follow(ada, "chat.listMessages", { threadId, spaceId: space._id }, 1)
    await follow(grace, "chat.listMessages", { threadId, spaceId: space._id }, 2)
    for (let n = 0; n < 100; n++) {
      await say(`message ${n}.`)
      if (n === 50) await sql`delete from space_members where user_id = ${ids.grace}`
    }
    await grace.until(({ name, event }) => name === "revoked" && isAbout(event, 2))
    await seen(ada, "message 99.")
    for (let n = 0; n < 100; n++) expect(JSON.stringify(ada.received)).toContain(`message ${n}.`)
    const numbers = JSON.stringify(grace.received).match(/(?<=message )\d+(?=\.)/g) ?? []
    expect(Math.max(...numbers.map(Number))).toBeLessThanOrEqual(50)
    expect(
      (await grace.subscribe("chat.listMessages", { threadId, spaceId: space._id }, 3)).refused,
    ).toMatchObject([{ error: { code: "not_found" } }])
  })

  it("a removal ends every list that the member follows there, and takes the space off their own", async () => {
    await follow(grace, "spaces.list", {}, 1)
    const all = queries()
    for (const [at, [query, args]] of all.entries()) await follow(grace, query, args, 10 + at)
    await value(ada, "spaces.removeMember", { spaceId: space._id, userId: ids.grace })
    for (const at of all.keys())
      await grace.until(({ name, event }) => name === "revoked" && isAbout(event, 10 + at))
    await grace.until(({ name, event }) => name === "commit" && JSON.stringify(event).includes('[1,"remove"'))
  })

  it("nobody can say that somebody else is there, and who is removed is no longer there", async () => {
    const conversation = { threadId, spaceId: space._id }
    for (const [socket, id] of [
      [ada, 1],
      [grace, 2],
    ] as const) {
      await follow(socket, "chat.listMessages", conversation, id)
      expect(await socket.join("chat.presence", id)).toHaveProperty("value")
    }
    expect(await claimPresence(ids.ada)).toMatchObject({ error: { code: "forbidden" } })
    expect(await claimPresence(ids.grace)).toEqual({ value: null })
    await ada.until(({ name, event }) => name === "message" && JSON.stringify(event).includes(ids.grace))
    expect(JSON.stringify(ada.received)).not.toContain(`"userId":"${ids.ada}"`)
    await follow(grace, "spaces.members", { spaceId: space._id }, 3)
    expect(await grace.join("spaces.presence", 3)).toHaveProperty("value")
    const sayPresent = (userId: string) => grace.broadcast("spaces.presence", { userId }, 3)
    expect(await sayPresent(ids.ada)).toMatchObject({ error: { code: "forbidden" } })
    expect(await sayPresent(ids.grace)).toEqual({ value: null })
    await value(ada, "spaces.removeMember", { spaceId: space._id, userId: ids.grace })
    await ada.until(({ name, event }) => name === "members" && (event as { count: number }).count === 1)
    expect(await claimPresence(ids.grace)).toMatchObject({ error: { code: "not_found" } })
    expect(await sayPresent(ids.grace)).toMatchObject({ error: { code: "not_found" } })
  })

  it("what is moved into it appears there and nowhere else, and what is moved out disappears", async () => {
    const { files } = (await (
      await people.ada("/api/files?name=tides.txt", { method: "POST", body: "high" })
    ).json()) as { files: { _id: string }[] }
    const own = await value<{ _id: string }>(ada, "chat.createThread", { title: "Moving about" })
    const [fileIds, moved] = [files.map(({ _id }) => _id), own._id]
    const { _id: spaceId } = space
    await follow(ada, "files.list", {}, 1)
    await follow(ada, "chat.listThreads", {}, 2)
    await follow(grace, "files.list", { spaceId }, 3)
    await follow(grace, "chat.listThreads", { spaceId }, 4)
    await value(ada, "files.move", { fileIds, spaceId })
    await value(ada, "chat.moveThread", { threadId: moved, spaceId })
    await seen(grace, "tides.txt")
    await seen(grace, "Moving about")
    for (const [id, key] of [
      [1, fileIds[0]],
      [2, moved],
    ] as const)
      await ada.until(({ event }) => JSON.stringify(event).includes(`[${id},"remove","${key}"`))

    await follow(grace, "chat.listMessages", { threadId: moved, spaceId }, 5)
    await value(ada, "chat.moveThread", { threadId: moved })
    await value(ada, "files.move", { fileIds })
    await grace.until(({ name, event }) => name === "revoked" && isAbout(event, 5))
    for (const [id, key] of [
      [3, fileIds[0]],
      [4, moved],
    ] as const)
      await grace.until(({ event }) => JSON.stringify(event).includes(`[${id},"remove","${key}"`))
    expect(
      (await grace.subscribe("chat.listMessages", { threadId: moved, spaceId }, 6)).refused,
    ).toHaveLength(1)
  })

  it("deleting the space ends its lists for everybody, and restoring it opens them again", async () => {
    await follow(ada, "spaces.listTrash", {}, 1)
    await follow(grace, "chat.listThreads", { spaceId: space._id }, 2)
    await value(ada, "spaces.remove", { spaceId: space._id })
    await grace.until(({ name, event }) => name === "revoked" && isAbout(event, 2))
    await seen(ada, "Engines")
    await value(ada, "spaces.restore", { spaceId: space._id })
    await follow(grace, "chat.listThreads", { spaceId: space._id }, 3)
  })

  it("a lowered role refuses the next change, and what is followed continues", async () => {
    await follow(grace, "chat.listThreads", { spaceId: space._id }, 1)
    await value(ada, "spaces.setRole", { spaceId: space._id, userId: ids.grace, role: "reader" })
    expect(await grace.mutate("chat.createThread", { title: "No more", spaceId: space._id })).toMatchObject({
      error: { code: "forbidden", reason: "space-reader" },
    })
    await value(ada, "chat.createThread", { title: "Still shown", spaceId: space._id })
    await seen(grace, "Still shown")
  })

  it("invitations are shown to the owner, and to the person who is invited once they have confirmed the address", async () => {
    const [other] = await sql`
      insert into space_invitations (space_id, user_id, email, role, token_hash, hint, expires_at)
      values (${space._id}, ${ids.ada}, 'eve@example.org', 'reader', ${"b".repeat(64)}, 'abcd', 4102444800000)
      returning _id`
    await sql`update users set onboarding_completed = true`
    expect(await eve.query("spaces.listReceived", {})).toMatchObject({ error: { code: "not_found" } })
    expect((await eve.subscribe("spaces.listReceived", {}, 7)).refused).toHaveLength(1)
    const before = await pageOf(people.eve)
    expect(before).toContain("once you have confirmed it")
    expect(before).not.toContain("Engines")
    await sql`update auth.user set email_verified = true where email = 'eve@example.org'`
    expect(await pageOf(people.eve)).toContain("Engines")
    await sql`delete from space_invitations where _id = ${String(other?.["_id"])}`

    await follow(eve, "spaces.listReceived", {}, 1)
    await follow(ada, "spaces.invitations", { spaceId: space._id }, 2)
    expect(await grace.query("spaces.invitations", { spaceId: space._id })).toMatchObject({
      error: { code: "not_found" },
    })
    await sql`
      insert into space_invitations (space_id, user_id, email, role, token_hash, hint, expires_at)
      values (${space._id}, ${ids.ada}, 'eve@example.org', 'reader', ${"a".repeat(64)}, 'abcd', 4102444800000)`
    await seen(eve, "Engines")
    await seen(ada, "eve@example.org")
    expect(JSON.stringify(eve.received)).not.toContain("a".repeat(64))
  })
})

async function pageOf(person: Person): Promise<string> {
  return (await person("/dashboard/spaces")).text()
}

function queries() {
  const { _id: spaceId } = space
  return [
    ["spaces.members", { spaceId }],
    ["chat.listThreads", { spaceId }],
    ["chat.listMessages", { spaceId, threadId }],
    ["chat.listTurns", { spaceId, threadId }],
    ["chat.listChunks", { spaceId, threadId }],
    ["chat.listWaiting", { spaceId, threadId }],
    ["chat.listReads", { spaceId }],
    ["chat.listShares", { spaceId, threadId }],
    ["files.list", { spaceId }],
  ] as const
}

/** As Grace, whose subscription has the number 2. */
function claimPresence(userId: string) {
  return grace.broadcast("chat.presence", { userId, state: "writing" }, 2)
}

async function say(content: string) {
  await sql`
    insert into chat_messages (user_id, thread_id, role, content)
    values (${ids.ada}, ${threadId}, 'user', ${content})`
}

async function follow(socket: LiveSocket, query: string, args: unknown, id: number) {
  expect(await socket.subscribe(query, args, id), query).toMatchObject({ accepted: [id] })
}

function seen(socket: LiveSocket, text: string) {
  return socket.until(({ event }) => JSON.stringify(event).includes(text))
}

async function value<Value = unknown>(socket: LiveSocket, name: string, args: unknown): Promise<Value> {
  const answer = await socket.mutate(name, args)
  if ("error" in answer) throw new Error(`${name}: ${JSON.stringify(answer.error)}`)
  return answer.value as Value
}

function isAbout(event: unknown, id: number): boolean {
  return (event as { ids: number[] }).ids.includes(id)
}

async function idOf(email: string): Promise<string> {
  const [user] = await sql`select _id from users where email = ${email}`
  return String(user?.["_id"])
}
