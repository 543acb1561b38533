import { randomBytes, randomUUID } from "node:crypto"
import postgres from "postgres"
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest"
import { ReferenceClient } from "../realtime/support/client.ts"
import { post, postAsync } from "../support/api.ts"
import { startFleet, type Fleet, type Member } from "../support/fleet.ts"
import { realtimeToken } from "../support/live.ts"
import {
  ada as adaLovelace,
  grace as graceHopper,
  postJson,
  signIn,
  signUp,
  type Person,
} from "../support/people.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { addSecondFactor } from "../support/second-factor.ts"
import { openScriptedGateway, type ScriptedGateway, type ScriptedReply } from "../support/scripted-gateway.ts"
import { openSmtpReceiver, type SmtpReceiver } from "../support/smtp.ts"
import { storedPaths } from "../support/stored-paths.ts"
import { begin, offsetOf, uploadAt } from "../support/uploads.ts"

let database: Awaited<ReturnType<typeof createTestDatabase>>
let sql: postgres.Sql
let gateway: ScriptedGateway
let receiver: SmtpReceiver
let fleet: Fleet
let ada: Person

beforeAll(async () => {
  ;[gateway, receiver] = [await openScriptedGateway(), await openSmtpReceiver()]
  database = await createTestDatabase({ empty: true })
  sql = postgres(database.url, { max: 2 })
  // All three start simultaneously on an empty database: one of them creates the tables.
  fleet = await startFleet(database.url, {
    env: {
      ...gateway.env,
      SMTP_URL: receiver.url,
      TRUSTED_PROXIES: "1",
      CHAT_TURNS_AT_ONCE: "2",
      ADMIN_EMAILS: "operator@example.org",
    },
  })
  ada = await signUp(fleet, adaLovelace)
})
afterAll(async () => {
  await fleet.stop()
  await sql.end()
  await database.close()
  await Promise.all([receiver.stop(), gateway.close()])
})

it("what is written at each of three processes is seen at all of them", async () => {
  const clients = await watchEverywhere(ada)
  const made = await Promise.all(fleet.members.map((member) => makeThread(at(member, ada))))
  for (const { client, list } of clients) {
    await client.until(() => made.every((id) => list.rows.has(id)), "all conversations")
    expect(client.violations).toEqual([])
  }
})

it("the operator sees what all processes do, and which of them do not report", async () => {
  const operator = await signUp(fleet, { name: "Operator", email: "operator@example.org" })
  await sql`update auth.user set email_verified = true, holder_confirmed = true where email = ${operator.email}`
  await addSecondFactor(operator, operator.password)
  const [asked, other] = fleet.members as [Member, Member]
  const readPage = async () => (await at(asked, operator)("/admin/live")).text()
  const clients = await watchEverywhere(ada)
  const page = await readPage()
  expect(page).toContain("What all 3 running processes serve now")
  expect(/<code>chat\.listThreads<\/code>.*?<td[^>]*>(\d+)/.exec(page)?.[1]).toBe(String(clients.length))
  expect(page).not.toContain("did not report")

  process.kill(other.pid(), "SIGSTOP")
  try {
    expect(await readPage()).toContain("1 process did not report within a second.")
  } finally {
    process.kill(other.pid(), "SIGCONT")
  }
})

it("signing out at one process disconnects at all of them", async () => {
  const leaving = await signIn(fleet, ada)
  const clients = await watchEverywhere(leaving)
  const [member] = fleet.members
  expect((await at(member!, leaving)("/sign-out", { method: "POST" })).status).toBe(303)
  for (const { client } of clients) {
    await client.until(() => !client.connected, "the end of the connection")
    expect(client.goodbye?.reason).toBe("signed_out")
    await expect(client.resume()).rejects.toMatchObject({ code: "unauthorized" })
  }
})

it("a conversation has one reply at a time, and a person no more than allowed, across all processes", async () => {
  const [one, two, three] = await Promise.all([1, 2, 3].map(() => makeThread(ada)))
  const inOne = await Promise.all(fleet.members.map((member) => ask(at(member, ada), one!)))
  expect(timesOf(inOne)).toEqual({ 202: 1, 409: 2 })
  const elsewhere = await Promise.all([
    ask(at(fleet.members[1]!, ada), two!),
    ask(at(fleet.members[2]!, ada), three!),
  ])
  expect(timesOf(elsewhere)).toEqual({ 202: 1, 409: 1 })

  for (const thread of [one, two, three])
    await at(fleet.members[0]!, ada)(`/api/chat/threads/${thread}/stop`, { method: "POST" })
  await expect.poll(running).toBe(0)
})

it("an upload starts at one process, continues at the second, ends at the third, and is read at the first", async () => {
  const [first, second, third] = fleet.members.map((member) => at(member, ada))
  const bytes = randomBytes(3_000_000)
  const { address } = await begin(first!, "film.mov", bytes.length)
  expect((await uploadAt(first!, address).patch(0, bytes.subarray(0, 1_000_000))).status).toBe(204)
  expect(
    (await uploadAt(second!, address).patch(1_000_000, bytes.subarray(1_000_000, 2_000_000))).status,
  ).toBe(204)
  expect(await offsetOf(uploadAt(third!, address))).toBe(2_000_000)
  const last = await uploadAt(third!, address).patch(2_000_000, bytes.subarray(2_000_000))
  const file = await first!(`/api/files/${last.headers.get("tideline-file-id")}`)
  expect(Buffer.from(await file.arrayBuffer()).equals(bytes)).toBe(true)
})

it("each email is sent once, although three processes send", async () => {
  const addresses = Array.from({ length: 18 }, () => `${randomUUID()}@example.org`)
  const joined = await Promise.all(
    addresses.map((email, index) => {
      const from = { "x-forwarded-for": `198.51.100.${index}` }
      return at(fleet.members[index % 3]!)("/api/auth/sign-up/email", {
        ...post({ name: "Somebody", email, password: "an engine of brass and cards" }),
        headers: { "content-type": "application/json", ...from },
      })
    }),
  )
  expect(joined.map(({ status }) => status)).toEqual(addresses.map(() => 200))
  await expect.poll(waiting, { timeout: 20_000 }).toBe(0)
  const to = receiver.received.map(({ envelope }) => envelope.to.join())
  expect(to.filter((email) => addresses.includes(email)).toSorted()).toEqual(addresses.toSorted())
})

it("wrong passwords are counted across all processes", async () => {
  const statuses: number[] = []
  for (let attempt = 0; attempt < 12; attempt++) {
    const guess = { email: "grace@example.org", password: `guess number ${attempt}` }
    statuses.push((await postJson(at(fleet.members[attempt % 3]!), "/api/auth/sign-in/email", guess)).status)
  }
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429])
})

it("API requests are counted by each process separately, as documented", async () => {
  const remaining = await Promise.all(
    fleet.members.map(async (member) =>
      (await at(member)("/api/health", { headers: { "x-forwarded-for": "203.0.113.7" } })).headers.get(
        "x-ratelimit-remaining",
      ),
    ),
  )
  expect(remaining).toEqual(["29", "29", "29"])
})

it("due work is done once, even if all three processes look for it at the same moment", async () => {
  const [kept, ...removed] = await Promise.all(Array.from({ length: 9 }, (_, size) => storeFile(1000 + size)))
  for (const id of removed) await ada(`/api/files/${id}`, { method: "DELETE" })
  const abandoned = await begin(ada, "half.mov", 2_000_000)
  await abandoned.patch(0, randomBytes(1_000_000))
  const threadId = await makeThread(ada)
  await ada(`/api/chat/threads/${threadId}`, { method: "DELETE" })
  await sql`update files set trashed_at = 1 where trashed`
  await sql`update uploads set expires_at = 1 where file_id is null`
  await sql`update chat_threads set trashed_at = 1 where trashed`
  await Promise.all(fleet.members.map((member) => member.end("SIGTERM")))
  for (const { log } of fleet.members) log.length = 0
  await Promise.all(fleet.members.map((member) => member.start()))
  await fleet.whenReady()

  const due = async () =>
    (
      await sql`
        select _id from files where trashed union all select _id from uploads where file_id is null
        union all select _id from chat_threads where trashed`
    ).length
  await expect.poll(due, { timeout: 20_000 }).toBe(0)
  const [usage] = await sql`
    select used = (select sum(size) from files where user_id = file_usage.user_id) as agrees, reserved::int
    from file_usage where user_id = (select user_id from files where _id = ${String(kept)})`
  expect(usage).toEqual({ agrees: true, reserved: 0 })
  // A file's bytes are deleted after its row.
  const stored = await sql`select distinct storage_id from files`
  expect(stored.length).toBeGreaterThan(0)
  await expect.poll(async () => (await storedPaths(fleet)).length).toBe(stored.length)
  await expect.poll(async () => (await sql`select _id from blobs`).length).toBe(stored.length)
  for (const { log } of fleet.members) expect(log.join("").match(/^.*"level":[56]0.*$/m)).toBeNull()
})

it("the replies of a killed process are ended once, by one of the others", async () => {
  const [doomed, other] = fleet.members as [Member, Member]
  const threadId = await makeThread(ada)
  const client = new ReferenceClient(socketOf(other), await realtimeToken(ada))
  onTestFinished(() => client.close())
  await client.connect()
  const turns = await client.follow("chat.listTurns", { threadId })
  const before = gateway.answers.length
  expect(await ask(at(doomed, ada), threadId)).toBe(202)
  const answer = await gateway.asked(before)
  answer.say("The sea is")
  // The first stored chunk marks the start of the reply, and need not contain text.
  const kept = async () =>
    JSON.stringify(await sql`select delta from chat_chunks where thread_id = ${threadId} order by seq`)
  await expect.poll(kept).toContain("The sea is")
  await doomed.end("SIGKILL")
  const status = () => [...turns.rows.values()].map((row) => row["status"])
  await client.until(() => status().join() === "interrupted", "the end of the answer")
  const seen = client.events.filter(
    (event) => event.event === "commit" && event.changes.some(([id]) => id === turns.id),
  )
  expect(seen).toHaveLength(2) // its beginning and its end
  // PostgreSQL has a commit in its log a moment before snapshots see it.
  const content = async () =>
    (await sql`select content from chat_messages where thread_id = ${threadId} and role = 'assistant'`).map(
      (row) => String(row["content"]),
    )
  await expect.poll(content).toEqual(["The sea is"])
  await doomed.start()
})

it("messages that wait in a space are replied to in their order, although the process that was replying is killed", async () => {
  const [doomed, other, third] = fleet.members as [Member, Member, Member]
  const made = await ada("/api/spaces", post({ name: "Engines" }))
  const { space } = (await made.json()) as { space: { _id: string } }
  const grace = await signUp(fleet, graceHopper)
  await grace("/dashboard")
  await sql`
    insert into space_members (space_id, user_id, role)
    select ${space._id}, _id, 'editor' from users where email = ${graceHopper.email}`
  const threadId = randomUUID()
  const before = gateway.answers.length
  const send = async (member: Member, person: Person, text: string) => {
    const messages = [{ id: text, role: "user", parts: [{ type: "text", text }] }]
    const body = { threadId, createThread: true, spaceId: space._id, mayWait: true, messages }
    const answer = await at(member, person)("/api/chat", postAsync(body))
    return (await answer.json()) as { ahead?: number }
  }
  await send(doomed, ada, "one")
  await gateway.asked(before)
  expect(await send(other, grace, "two")).toMatchObject({ ahead: 0 })
  expect(await send(third, ada, "three")).toMatchObject({ ahead: 1 })
  expect(await send(doomed, grace, "four")).toMatchObject({ ahead: 2 })
  await doomed.end("SIGKILL")
  const outcome = () => sql`
    select request_id, status from chat_turns where thread_id = ${threadId} order by _id`
  const finished = new Set<ScriptedReply>()
  for (const [n, id] of ["two", "three", "four"].entries()) {
    await expect
      .poll(async () => (await outcome()).at(-1), { timeout: 30_000 })
      .toEqual({ request_id: id, status: "running" })
    const finish = async () => {
      // Not those of the next messages, which must be seen running.
      for (const answer of gateway.answers.slice(before + 1)) {
        if (!finished.has(answer) && lastMessage(answer).includes(id)) {
          answer.finish()
          finished.add(answer)
        }
      }
      return (await outcome())[n + 1]?.["status"]
    }
    await expect.poll(finish, { timeout: 30_000 }).toBe("completed")
  }
  expect(await outcome()).toEqual([
    { request_id: "one", status: "interrupted" },
    { request_id: "two", status: "completed" },
    { request_id: "three", status: "completed" },
    { request_id: "four", status: "completed" },
  ])
  await doomed.start()
})

/** What the model was asked last. */
function lastMessage({ request }: ScriptedReply): string {
  const { messages } = JSON.parse(request) as { messages: unknown[] }
  return JSON.stringify(messages.at(-1))
}

/** Requests from a person, or without credentials, to one process only. */
function at(member: Member, person?: Person) {
  return (address: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers)
    headers.set("origin", fleet.origin)
    if (person) headers.set("cookie", person.cookie())
    return fetch(new URL(new URL(address, fleet.origin).pathname, member.origin), {
      redirect: "manual",
      ...init,
      headers,
    })
  }
}

async function watchEverywhere(person: Person) {
  const token = await realtimeToken(person)
  return Promise.all(
    fleet.members.map(async (member) => {
      const client = new ReferenceClient(socketOf(member), token)
      onTestFinished(() => client.close())
      await client.connect()
      return { client, list: await client.follow("chat.listThreads", {}) }
    }),
  )
}

function socketOf(member: Member) {
  return member.origin.replace("http", "ws")
}

async function storeFile(size: number): Promise<string> {
  const response = await ada(`/api/files?name=${randomUUID()}.bin`, {
    method: "POST",
    body: randomBytes(size),
  })
  const { files } = (await response.json()) as { files: { _id: string }[] }
  return String(files[0]?._id)
}

type Send = (address: string, init?: RequestInit) => Promise<Response>

async function makeThread(send: Send): Promise<string> {
  const response = await send("/api/chat/threads", post({ title: "The sea" }))
  return ((await response.json()) as { thread: { _id: string } }).thread._id
}

/** The status of the response. */
async function ask(send: Send, threadId: string): Promise<number> {
  const parts = [{ type: "text", text: "How deep is the sea?" }]
  const response = await send(
    "/api/chat",
    postAsync({ threadId, messages: [{ id: randomUUID(), role: "user", parts }] }),
  )
  return response.status
}

async function running() {
  return (await sql`select 1 from chat_turns where status = 'running'`).length
}

async function waiting() {
  return (await sql`select 1 from mail_outbox where state = 'queued'`).length
}

/** How often each status occurred. */
function timesOf(statuses: number[]): Record<number, number> {
  return Object.fromEntries(
    statuses.map((status) => [status, statuses.filter((one) => one === status).length]),
  )
}
