import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import type { TidelineApp } from "../support/app.ts"
import { findEmail } from "../support/inbox.ts"
import { image } from "../support/images.ts"
import { openLiveSocket, realtimeToken } from "../support/live.ts"
import { readZip } from "../support/zip.ts"
import { openBrowser, postJson, signIn, type Person } from "../support/people.ts"
import { withTideline } from "../support/with-tideline.ts"

const ACCOUNT = "/dashboard/account"

const { app, sql, newPerson } = withTideline()

describe("the account page", () => {
  it("requires signing in", async () => {
    const response = await openBrowser(app)(ACCOUNT)
    expect(response.status).toBe(302)
    expect(response.headers.get("location")).toContain("/sign-in")
    expect((await openBrowser(app)(`${ACCOUNT}/export`)).status).toBe(302)
  })

  it("saves a name, or says what is wrong with it", async () => {
    const person = await newPerson()
    expect(await change(person, { intent: "save-profile", name: " Countess  of Lovelace " })).toMatchObject({
      status: 200,
      text: expect.stringContaining("Name saved."),
    })
    expect(await change(person, { intent: "save-profile", name: " " })).toMatchObject({
      status: 400,
      text: expect.stringContaining("Enter your name."),
    })
    const [row] = await sql`select name from users where email = ${person.email}`
    expect(row?.["name"]).toBe("Countess of Lovelace")
  })

  it("ignores an unknown form and one from another site", async () => {
    const person = await newPerson()
    expect(await change(person, { intent: "become-admin" })).toMatchObject({ status: 400 })
    const forged = await person(ACCOUNT, {
      method: "POST",
      headers: { origin: "https://evil.example" },
      body: new URLSearchParams({ intent: "end-other-sessions" }),
    })
    expect(forged.status).toBe(403)
  })
})

describe("a password", () => {
  it.each([
    { intent: "change-password", current: "my old secret", password: "short" },
    { intent: "change-address", current: "my old secret", email: "not an address" },
    { intent: "remove-passkey", current: "my old secret", passkeyId: "" },
    { intent: "begin-passkey", current: "my old secret", name: "" },
    { intent: "remove-second-factor", current: "my old secret", code: "" },
    { intent: "delete-account", confirmation: "my old secret".repeat(20) },
    { intent: "no-such-form", current: "my old secret" },
  ])("is not sent back with what is wrong in $intent", async (fields) => {
    const person = await newPerson()
    const { status, text } = await change(person, fields)
    expect(status).toBe(400)
    expect(text).not.toContain("my old secret")
  })

  it("is changed by anyone who knows the current one, which signs out every other browser immediately", async () => {
    const person = await newPerson()
    const elsewhere = await signIn(app, person)
    const token = await realtimeToken(elsewhere)
    const socket = await openLiveSocket(app, token)

    const next = "another engine of brass"
    expect(await changePassword(person, "not this one", next)).toMatchObject({
      status: 403,
      text: expect.stringContaining("That is not your password."),
    })
    expect((await elsewhere(ACCOUNT)).status).toBe(200)

    expect(await changePassword(person, person.password, next)).toMatchObject({
      status: 200,
      text: expect.stringContaining("Password changed."),
    })
    await socket.until(({ name }) => name === "goodbye")
    await expect(openLiveSocket(app, token)).rejects.toMatchObject({ data: { code: "unauthorized" } })
    expect((await elsewhere(ACCOUNT)).headers.get("location")).toContain("/sign-in")
    expect((await person(ACCOUNT)).status).toBe(200)
    await expect(signIn(app, person)).rejects.toThrow("401")
    await signIn(app, { email: person.email, password: next })
  })

  it("cannot be guessed there", async () => {
    const person = await newPerson()
    const statuses: number[] = []
    for (let guess = 0; guess < 12; guess++) {
      statuses.push((await changePassword(person, `guess ${guess}`, "a new engine of brass")).status)
    }
    expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 403))
    expect(statuses.slice(10)).toEqual([429, 429])
    expect(await deletion(person, person.password)).toMatchObject({ status: 429 })
  })

  it("must be strong enough", async () => {
    const person = await newPerson()
    expect(await changePassword(person, person.password, "ninechars")).toMatchObject({
      status: 400,
      text: expect.stringContaining("Choose a password of at least 10 characters."),
    })
    expect(await changePassword(person, person.password, "ten honest")).toMatchObject({ status: 200 })
  })
})

describe("sessions", () => {
  it("are listed and ended one by one, by their own user only", async () => {
    const person = await newPerson()
    const elsewhere = await signIn(app, person)
    const other = await newPerson()
    const [theirs, mine] = await sql<{ id: string }[]>`
      select s.id from auth.session s join auth.user u on u.id = s.user_id
      where u.email = ${person.email} order by s.created_at desc`
    const page = await (await person(ACCOUNT)).text()
    expect(page).toContain("This browser")
    expect(page).toContain(theirs?.id)

    const attempt = await change(other, { intent: "end-session", sessionId: theirs?.id ?? "" })
    expect(attempt).toMatchObject({ status: 404, text: expect.stringContaining("There is no such session") })
    expect((await elsewhere(ACCOUNT)).status).toBe(200)

    await change(person, { intent: "end-session", sessionId: theirs?.id ?? "" })
    expect((await elsewhere(ACCOUNT)).status).toBe(302)
    expect((await person(ACCOUNT)).status).toBe(200)
    expect(mine?.id).toBeDefined()
  })

  it("can all be ended except the current one", async () => {
    const person = await newPerson()
    const others = await Promise.all([signIn(app, person), signIn(app, person)])
    expect(await change(person, { intent: "end-other-sessions" })).toMatchObject({ status: 200 })
    for (const other of others) expect((await other(ACCOUNT)).status).toBe(302)
    expect((await person(ACCOUNT)).status).toBe(200)
  })
})

describe("API keys", () => {
  const newKey = { intent: "create-key", days: "90", chat: "on", "files:read": "on" }

  it("are shown once, work, and are refused when deleted, live connections included", async () => {
    const person = await newPerson()
    const made = await change(person, { ...newKey, name: "backup" })
    const key = /tide_\w+/.exec(made.text.match(/<code[^>]*>(tide_\w{20,})<\/code>/)?.[1] ?? "")?.[0] ?? ""
    expect(key.length).toBeGreaterThan(20)
    expect(await (await person(ACCOUNT)).text()).not.toContain(key)
    const script = { headers: { authorization: `Bearer ${key}` } }
    expect((await fetch(`${app.origin}/api/files`, script)).status).toBe(200)
    const answer = (await (await fetch(`${app.origin}/api/realtime/token`, script)).json()) as {
      token: string
    }
    const socket = await openLiveSocket(app, answer.token)

    const [row] = await sql<{ id: string }[]>`
      select k.id from auth.apikey k join auth.user u on u.id = k.reference_id where u.email = ${person.email}`
    const other = await newPerson()
    expect(await change(other, { intent: "delete-key", keyId: row?.id ?? "" })).toMatchObject({
      status: 404,
    })
    expect((await fetch(`${app.origin}/api/files`, script)).status).toBe(200)

    expect(await change(person, { intent: "delete-key", keyId: row?.id ?? "" })).toMatchObject({
      status: 200,
    })
    expect((await fetch(`${app.origin}/api/files`, script)).status).toBe(401)
    await socket.until(({ name }) => name === "goodbye")
  })

  it("need a name, and are limited to fifty", async () => {
    const person = await newPerson()
    expect(await change(person, { ...newKey, name: "" })).toMatchObject({ status: 400 })
    for (let made = 0; made < 49; made++) await person.apiKey()
    const make = () => postJson(person, "/api/auth/api-key/create", { name: "one of many" })
    const statuses = (await Promise.all(Array.from({ length: 6 }, make))).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(1)
    if (!statuses.includes(200)) expect((await make()).status).toBe(200)
    const refused = await make()
    expect([refused.status, await refused.json()]).toMatchObject([403, { code: "TOO_MANY_KEYS" }])
    expect(await change(person, { ...newKey, name: "one more" })).toMatchObject({
      status: 403,
      text: expect.stringContaining("You have 50 keys."),
    })
  })
})

describe("the account's archive", () => {
  it("contains the profile, the conversations and the files, and no secrets", async () => {
    const person = await newPerson()
    await person("/api/files?name=notes.txt", { method: "POST", body: "the analytical engine" })
    await postJson(person, "/api/chat/threads", { title: "Punched cards" })
    await person.apiKey()
    const response = await person(`${ACCOUNT}/export`)
    expect(response.status).toBe(200)
    expect(response.headers.get("content-disposition")).toMatch(/^attachment; filename="Tideline \d{4}/)
    const archived = new Map(readZip(Buffer.from(await response.arrayBuffer())))
    expect(archived.get("files/notes.txt")).toBe("the analytical engine")
    expect(archived.get("conversations/1 Punched cards.md")).toContain("# Punched cards")
    expect(archived.has("conversations/1 Punched cards.json")).toBe(true)
    const account = archived.get("account.json") ?? ""
    expect(JSON.parse(account)).toMatchObject({
      user: { email: person.email, language: "en" },
      keys: [{ name: "a script" }],
    })
    expect(account).not.toMatch(/argon2|tide_\w{20}/)
  })
})

describe("what somebody wrote in a space", () => {
  it("is in their archive, also once they are no longer a member, and what others wrote is not", async () => {
    const [person, other] = [await newPerson(), await newPerson()]
    const spaceId = await newSpace("Looms", other, person)
    const threadId = await newThread(spaceId, other)
    for (const [author, content] of [
      [person, "mine, in a space"],
      [other, "somebody else's"],
    ] as const)
      await sql`
        insert into chat_messages (user_id, thread_id, role, content)
        select _id, ${threadId}, 'user', ${content} from users where email = ${author.email}`
    await sql`delete from space_members using users where users._id = user_id and users.email = ${person.email}`
    const response = await person(`${ACCOUNT}/export`)
    const archived = new Map(readZip(Buffer.from(await response.arrayBuffer())))
    expect(JSON.parse(archived.get("spaces/messages.json") ?? "")).toEqual([
      expect.objectContaining({ spaceId, threadId, content: "mine, in a space" }),
    ])
    expect([...archived.values()].join("")).not.toContain("somebody else's")
  })
})

describe("trashed items", () => {
  it("are in the archive too, in a folder of their own", async () => {
    const person = await newPerson()
    const made = await person("/api/files?name=old.txt", { method: "POST", body: "a difference engine" })
    await person("/api/files?name=old.txt", { method: "POST", body: "the analytical engine" })
    const { files } = (await made.json()) as { files: { _id: string }[] }
    expect((await person(`/api/files/${files[0]?._id}`, { method: "DELETE" })).ok).toBe(true)
    const asked = await postJson(person, "/api/chat/threads", { title: "Looms" })
    const { thread } = (await asked.json()) as { thread: { _id: string } }
    expect((await person(`/api/chat/threads/${thread._id}`, { method: "DELETE" })).ok).toBe(true)

    const response = await person(`${ACCOUNT}/export`)
    const archived = new Map(readZip(Buffer.from(await response.arrayBuffer())))
    expect(archived.get("trash/files/old.txt")).toBe("a difference engine")
    expect(archived.get("files/old (1).txt")).toBe("the analytical engine")
    expect(archived.get("trash/conversations/1 Looms.md")).toContain("# Looms")
    expect(archived.has("trash/conversations/1 Looms.json")).toBe(true)
    expect(archived.has("conversations/1 Looms.md")).toBe(false)
  })
})

describe("deleting the account", () => {
  it("requires the password", async () => {
    const person = await newPerson()
    expect(await deletion(person, "not this one")).toMatchObject({
      status: 403,
      text: expect.stringContaining("Nothing was deleted."),
    })
    expect((await person(ACCOUNT)).status).toBe(200)
  })

  it("leaves no row, bytes, session, key or live connection, and touches nobody else's", async () => {
    const person = await newPerson()
    await sql`update auth.user set email_verified = true where email = ${person.email}`
    const neighbour = await newPerson()
    const key = await person.apiKey()
    for (const owner of [person, neighbour]) {
      await owner("/api/files?name=notes.txt", { method: "POST", body: `of ${owner.email}` })
      await postJson(owner, "/api/chat/threads", { title: "Punched cards" })
    }
    await openBrowser(app)("/waitlist", {
      method: "POST",
      body: new URLSearchParams({ email: person.email }),
    })
    const picture = new FormData()
    picture.set("intent", "save-picture")
    picture.set("picture", new File([new Uint8Array(await image("png", [64, 64]))], "me.png"))
    expect((await person(ACCOUNT, { method: "POST", body: picture })).status).toBe(200)
    const [user] = await sql<{ _id: string; clerk_id: string }[]>`
      select _id, clerk_id from users where email = ${person.email}`
    const token = await realtimeToken(person)
    const socket = await openLiveSocket(app, token)

    const gone = await deletion(person, person.password)
    expect(gone).toMatchObject({ status: 303, location: "/" })
    await socket.until(({ name }) => name === "goodbye")
    await expect(openLiveSocket(app, token)).rejects.toMatchObject({ data: { code: "unauthorized" } })
    expect((await person(ACCOUNT)).headers.get("location")).toContain("/sign-in")
    const script = { headers: { authorization: `Bearer ${key}` } }
    expect((await fetch(`${app.origin}/api/files`, script)).status).toBe(401)
    await expect(signIn(app, person)).rejects.toThrow("401")

    await findEmail(app, person.email, /deleted/i)
    await sql`delete from mail_outbox where kind = 'account-deleted' and state = 'sent'`
    expect(await tablesWith([person.email, user?._id ?? "", user?.clerk_id ?? ""])).toEqual([])
    await expect.poll(() => bytesOnDisk(app)).toEqual([`of ${neighbour.email}`])
    expect((await neighbour(ACCOUNT)).status).toBe(200)
    expect(await tablesWith([neighbour.email])).toContain("public.users")
  })
})

describe("the owner of a space with other members", () => {
  it("chooses who gets it before their account is deleted", async () => {
    const [owner, heir] = [await newPerson(), await newPerson()]
    const spaceId = await newSpace("Engines", owner, heir)
    const page = await (await owner(ACCOUNT)).text()
    expect(page).toMatch(/Your space Engines[\s\S]*Hand over to[\s\S]*Delete it with everything in it/)
    expect(await deletion(owner, owner.password)).toMatchObject({
      status: 409,
      text: expect.stringContaining("You own spaces with other members: Engines."),
    })
    expect((await owner(ACCOUNT)).status).toBe(200)
    const [next] = await sql`select _id from users where email = ${heir.email}`
    const choice = { [`space-${spaceId}`]: String(next?.["_id"]) }
    expect(await deletion(owner, owner.password, choice)).toMatchObject({ status: 303 })
    expect(await sql`select member_email, role from space_members where space_id = ${spaceId}`).toMatchObject(
      [{ member_email: heir.email, role: "owner" }],
    )
  })
})

/** Of these people, of whom the first owns it. Returns its id. */
async function newSpace(name: string, ...members: Person[]): Promise<string> {
  const [space] = await sql`
    insert into spaces (name, slug) values (${name}, ${`space-${crypto.randomUUID().slice(0, 8)}`}) returning _id`
  for (const [at, { email }] of members.entries())
    await sql`
      insert into space_members (space_id, user_id, role)
      select ${String(space?.["_id"])}, _id, ${at === 0 ? "owner" : "editor"} from users where email = ${email}`
  return String(space?.["_id"])
}

async function newThread(spaceId: string, { email }: Person): Promise<string> {
  const [thread] = await sql`
    insert into chat_threads (user_id, title, last_message_at, space_id)
    select _id, 'A talk', 1, ${spaceId} from users where email = ${email} returning _id`
  return String(thread?.["_id"])
}

async function change(person: Person, fields: Record<string, string>) {
  const response = await person(ACCOUNT, { method: "POST", body: new URLSearchParams(fields) })
  const location = response.headers.get("location")
  return { status: response.status, location, text: await response.text() }
}

function changePassword(person: Person, current: string, password: string) {
  return change(person, { intent: "change-password", current, password })
}

function deletion(person: Person, confirmation: string, choices: Record<string, string> = {}) {
  return change(person, { intent: "delete-account", confirmation, ...choices })
}

/** Every table with a row that holds one of the texts, in any column. */
async function tablesWith(texts: string[]): Promise<string[]> {
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_schema in ('public', 'auth') and table_type = 'BASE TABLE'`
  const found: string[] = []
  for (const { name } of tables) {
    const rows = await sql.unsafe(`select row from (select t::text as row from ${name} t) s`)
    if (rows.some(({ row }) => texts.some((text) => String(row).includes(text)))) found.push(name)
  }
  return found
}

function bytesOnDisk({ dataDir }: TidelineApp): string[] {
  return readdirSync(join(dataDir, "blobs"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
    .filter((text) => text.startsWith("of "))
}
