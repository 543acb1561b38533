import { SignJWT, generateKeyPair } from "jose"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { openLiveSocket, realtimeToken, type LiveSocket } from "../support/live.ts"
import { ada, grace, postJson, signUp, type Person } from "../support/people.ts"
import { withTideline } from "../support/with-tideline.ts"

let graceAtHome: Person
let hers: LiveSocket
let graces: LiveSocket
/** Ada's records. */
const own = { clerkId: "", userId: "", threadId: "", fileId: "", shareId: "" }

const { app, sql, adaAtHome } = withTideline({ people: { adaAtHome: ada } })

beforeAll(async () => {
  hers = await openLiveSocket(app, await realtimeToken(adaAtHome))
  graceAtHome = await signUp(app, grace)
  graces = await openLiveSocket(app, await realtimeToken(graceAtHome))
  const [user] = await sql`select _id, clerk_id from users where email = ${ada.email}`
  own.userId = user!["_id"]
  own.clerkId = user!["clerk_id"]
  const made = await hers.mutate("chat.createThread", { title: "Notes on the engine" })
  own.threadId = ("value" in made ? (made.value as { _id: string }) : { _id: "" })._id
  await sql`insert into chat_messages (user_id, thread_id, role, content)
    values (${own.userId}, ${own.threadId}, 'user', 'a secret of Ada')`
  // A reply in progress that no process generates.
  await sql`
    with answer as (
      insert into chat_messages (user_id, thread_id, role, content)
      select user_id, thread_id, 'assistant', '' from chat_messages where user_id = ${own.userId} returning *
    )
    insert into chat_turns (_id, user_id, thread_id, question_id, request_id, status, model)
    select answer._id, question.user_id, question.thread_id, question._id, 'q1', 'running', 'a model'
    from answer join chat_messages question using (thread_id)`
  await sayMore("a secret of Ada", 0)
  const uploaded = await adaAtHome("/api/files?name=engine.txt", { method: "POST", body: "a secret of Ada" })
  const { files } = (await uploaded.json()) as { files: { _id: string }[] }
  own.fileId = files[0]!._id
  const shared = await postJson(adaAtHome, `/api/chat/threads/${own.threadId}/shares`, {})
  own.shareId = ((await shared.json()) as { share: { _id: string } }).share._id
})

afterAll(async () => {
  hers.close()
  graces.close()
})

async function sayMore(text: string, seq: number) {
  await sql`
    insert into chat_chunks (user_id, thread_id, turn_id, seq, delta)
    select user_id, thread_id, _id, ${seq}, ${sql.json([{ type: "text", id: "0", text }])}
    from chat_turns where thread_id = ${own.threadId}`
}

const queries = () =>
  [
    ["users.getUserByClerkId", { clerkId: own.clerkId }],
    ["users.getOnboardingStatus", {}],
    ["devices.list", {}],
    ["files.list", {}],
    ["chat.listThreads", {}],
    ["chat.listMessages", { threadId: own.threadId }],
    ["chat.listTurns", { threadId: own.threadId }],
    ["chat.listChunks", { threadId: own.threadId }],
    ["chat.listShares", { threadId: own.threadId }],
  ] as const

const mutations = () =>
  [
    ["users.createOrUpdateUser", { clerkId: own.clerkId, email: ada.email, name: "Not Ada", plan: "free" }],
    ["files.rename", { fileId: own.fileId, fileName: "taken.txt" }],
    ["files.remove", { fileId: own.fileId }],
    ["chat.stop", { threadId: own.threadId }],
    ["chat.revokeShare", { shareId: own.shareId }],
    ["chat.renameThread", { threadId: own.threadId, title: "Taken" }],
    ["chat.setPeopleOnly", { threadId: own.threadId, peopleOnly: true }],
    ["chat.markRead", { threadId: own.threadId }],
    ["chat.removeThread", { threadId: own.threadId }],
    ["chat.restoreThread", { threadId: own.threadId }],
  ] as const

/** All of Ada's records, as stored in the database. */
async function everythingOfAda() {
  return JSON.stringify([
    await sql`select * from users where _id = ${own.userId}`,
    await sql`select * from files where user_id = ${own.userId}`,
    await sql`select * from chat_threads where user_id = ${own.userId}`,
    await sql`select * from chat_messages where user_id = ${own.userId}`,
    await sql`select * from chat_turns where user_id = ${own.userId}`,
    await sql`select * from chat_chunks where user_id = ${own.userId}`,
    await sql`select * from chat_shares where user_id = ${own.userId}`,
  ])
}

describe("a named query", () => {
  it("returns data to its own user", async () => {
    for (const [query, args] of queries()) {
      expect(await hers.query(query, args), query).not.toHaveProperty("error")
    }
    expect(await hers.query("users.getUserByClerkId", { clerkId: own.clerkId })).toMatchObject({
      value: { _id: own.userId, clerkId: own.clerkId, email: ada.email, _creationTime: expect.any(Number) },
    })
    expect(await hers.query("users.getOnboardingStatus", {})).toMatchObject({
      value: { completed: false, step: "welcome" },
    })
  })

  it("returns the record as documented, without internal columns", async () => {
    const answer = await hers.query("users.getUserByClerkId", { clerkId: own.clerkId })
    const [{ value }] = [answer as { value: object }]
    expect(Object.keys(value).toSorted()).toEqual([
      "_creationTime",
      "_id",
      "clerkId",
      "email",
      "imageUrl",
      "name",
      "onboardingCompleted",
      "onboardingStep",
      "plan",
    ])
  })

  it("shows nobody another user's data, once or live", async () => {
    for (const [query, args] of queries()) {
      const answer = await graces.query(query, args)
      expect(JSON.stringify(answer), query).not.toMatch(/Ada|ada@|engine/)
      await graces.subscribe(query, args, 1000 + Math.floor(Math.random() * 1e6))
    }
    for (const [query, args] of [
      ["users.getUserByClerkId", { clerkId: own.clerkId }],
      ["chat.listMessages", { threadId: own.threadId }],
      ["chat.listTurns", { threadId: own.threadId }],
      ["chat.listChunks", { threadId: own.threadId }],
    ] as const) {
      expect(await graces.query(query, args), query).toMatchObject({ error: { code: "not_found" } })
      expect((await graces.subscribe(query, args, 7)).refused, query).toMatchObject([
        { error: { code: "not_found" } },
      ])
    }
    await sql`update chat_threads set title = 'Ada changed it' where _id = ${own.threadId}`
    await sql`update files set file_name = 'Ada-changed.txt' where _id = ${own.fileId}`
    await sayMore("more of Ada's", 1)
    await graces.mutate("chat.createThread", { title: "A marker" })
    await graces.until(({ name, event }) => name === "commit" && JSON.stringify(event).includes("A marker"))
    expect(JSON.stringify(graces.received)).not.toMatch(/Ada|ada@|engine/)
  })
})

describe("a named mutation", () => {
  it("changes nothing of another user's, and returns not found", async () => {
    const before = await everythingOfAda()
    for (const [mutation, args] of mutations()) {
      const answer = await graces.mutate(mutation, args)
      expect(answer, mutation).toMatchObject({
        error: { code: expect.stringMatching(/^(not_found|forbidden)$/), message: expect.any(String) },
      })
    }
    expect(await everythingOfAda()).toBe(before)
  })

  it("does not let a user raise their own plan, or change their email address", async () => {
    const values = { clerkId: own.clerkId, email: ada.email, name: ada.name }
    for (const wrong of [{ plan: "pro" }, { plan: "free", email: "queen@example.org" }]) {
      expect(await hers.mutate("users.createOrUpdateUser", { ...values, ...wrong })).toMatchObject({
        error: { code: "forbidden" },
      })
    }
    for (const unfit of [{ name: "x".repeat(101) }, { name: "" }, { imageUrl: "https://a:b@example.org/" }]) {
      const answer = await hers.mutate("users.createOrUpdateUser", { ...values, plan: "free", ...unfit })
      expect(answer).toMatchObject({ error: { code: "invalid" } })
    }
    const answer = await hers.mutate("users.createOrUpdateUser", {
      ...values,
      name: "Ada King",
      plan: "free",
    })
    expect(answer).toMatchObject({ value: own.userId, xid: expect.any(String), lsn: expect.any(String) })
  })

  it("shows its effect to its user live, and names its transaction", async () => {
    await hers.subscribe("chat.listThreads", {}, 50)
    const answer = await hers.mutate("chat.renameThread", { threadId: own.threadId, title: "Renamed" })
    const commit = await hers.until(
      ({ name, event }) => name === "commit" && JSON.stringify(event).includes("Renamed"),
    )
    expect(commit).toMatchObject({ xids: [(answer as { xid: string }).xid] })
  })

  it("is applied once, however often it is sent", async () => {
    const id = crypto.randomUUID()
    const first = await hers.mutate("chat.createThread", { title: "Only one" }, id)
    const second = await hers.mutate("chat.createThread", { title: "Only one" }, id)
    expect(second).toMatchObject({ value: (first as { value: unknown }).value })
    const [{ count } = { count: 0 }] =
      await sql`select count(*)::int from chat_threads where title = 'Only one'`
    expect(count).toBe(1)
    expect(await hers.mutate("chat.createThread", { title: "Another" }, id)).toMatchObject({
      error: { code: "conflict" },
    })
  })

  it("leaves a transaction usable by others when the database refuses it", async () => {
    await adaAtHome("/api/files?name=second.txt", { method: "POST", body: "two" })
    const taken = await hers.mutate("files.rename", { fileId: own.fileId, fileName: "second.txt" })
    expect(taken).toMatchObject({
      error: {
        code: "conflict",
        message: "You already have a file called second.txt.",
        reason: "file-name-taken",
        values: { fileName: "second.txt" },
      },
    })
  })
})

describe("invalid arguments", () => {
  const strange: [string, unknown][] = [
    ["missing", undefined],
    ["null", null],
    ["a string", "x"],
    ["a list", [1, 2]],
    ["a number for an id", { threadId: 7, fileId: 7, clerkId: 7, title: 7, fileName: 7 }],
    ["no id at all", { threadId: "", fileId: "", clerkId: "", title: "", fileName: "" }],
    ["an operator for an id", { threadId: { $ne: null }, fileId: { $ne: null }, clerkId: { $ne: null } }],
    [
      "a prototype",
      JSON.parse('{"__proto__": {"threadId": "x"}, "constructor": {"prototype": {"admin": true}}}'),
    ],
    ["a NUL", { threadId: "\0", fileId: "\0", clerkId: "\0", title: "\0", fileName: "\0" }],
    ["huge", { threadId: "x".repeat(20_000), clerkId: "x".repeat(20_000), after: "x".repeat(20_000) }],
    ["a page of nowhere", { after: "nowhere" }],
    ["deep", JSON.parse(`${"[".repeat(2000)}${"]".repeat(2000)}`)],
  ]

  it("are refused by every query and mutation, or change and show nothing", async () => {
    const before = await everythingOfAda()
    for (const [what, args] of strange) {
      // One connection may have fewer messages in flight than these are in all.
      const socket = await openLiveSocket(app, await realtimeToken(graceAtHome))
      for (const [name] of queries()) {
        const answer = await socket.query(name, args)
        expect(JSON.stringify(answer), `${name} with ${what}`).not.toMatch(/Ada|engine/)
        if ("error" in answer)
          expect(answer.error.code, `${name} with ${what}`).toMatch(/^(invalid|not_found)$/)
      }
      for (const [name] of mutations()) {
        const answer = await socket.mutate(name, args)
        expect(answer, `${name} with ${what}`).toMatchObject({
          error: { code: expect.stringMatching(/^(invalid|not_found|forbidden)$/) },
        })
      }
      socket.close()
    }
    expect(await everythingOfAda()).toBe(before)
    expect(({} as Record<string, unknown>)["admin"]).toBeUndefined()
  })

  it("close the connection if a message exceeds the size limit", async () => {
    const flood = await openLiveSocket(app, await realtimeToken(adaAtHome))
    await expect(flood.query("files.list", { after: "x".repeat(70_000) })).rejects.toThrow("disconnected")
  })

  it("are refused if the name itself is invalid", async () => {
    for (const name of [
      "",
      "constructor",
      "__proto__",
      "toString",
      "files.drop",
      "files.list ",
      7,
      null,
      {},
    ]) {
      expect(await graces.query(name)).toMatchObject({
        error: { code: expect.stringMatching(/^(invalid|unknown)$/) },
      })
      expect(await graces.mutate(name)).toMatchObject({
        error: { code: expect.stringMatching(/^(invalid|unknown)$/) },
      })
    }
  })
})

describe("a socket", () => {
  it("is refused without a valid token", async () => {
    const { privateKey } = await generateKeyPair("ES256")
    const forged = (audience: string) =>
      new SignJWT({ sub: own.clerkId, plan: "pro", sid: null })
        .setProtectedHeader({ alg: "ES256", kid: "forged" })
        .setIssuer(app.origin)
        .setAudience(audience)
        .setExpirationTime("1m")
        .sign(privateKey)
    const [header, payload] = (await realtimeToken(adaAtHome)).split(".")
    const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${payload}.`
    for (const token of [
      "",
      "x",
      "a.b.c",
      unsigned,
      `${header}.${payload}.AAAA`,
      await forged("tideline-realtime"),
    ]) {
      await expect(openLiveSocket(app, token), token).rejects.toEqual(
        expect.objectContaining({ data: expect.anything() }),
      )
    }
    await expect(openLiveSocket(app, await adaAtHome.apiKey())).rejects.toEqual(refusal("unauthorized"))
  })

  it("is refused for a page of another site, and for another protocol version", async () => {
    const token = await realtimeToken(adaAtHome)
    await expect(openLiveSocket(app, token, { origin: "https://evil.example" })).rejects.toThrow()
    await expect(openLiveSocket(app, token, { version: 99 })).rejects.toEqual(refusal("version"))
    const allowed = await openLiveSocket(app, token, { origin: app.origin })
    allowed.close()
  })
})

describe("signing out", () => {
  it("closes the sockets of the ended session, with the reason", async () => {
    const person = await signUp(app, { name: "Alan Turing", email: "alan@example.org" })
    const socket = await openLiveSocket(app, await realtimeToken(person))
    await socket.subscribe("files.list", {})
    expect((await person("/sign-out", { method: "POST" })).status).toBe(303)
    expect(await socket.until(({ name }) => name === "goodbye")).toMatchObject({
      reason: "signed_out",
      retryAfter: null,
    })
    expect((await person("/api/realtime/token")).status).toBe(401)
  })
})

function refusal(code: string) {
  return expect.objectContaining({ data: expect.objectContaining({ code }) })
}
