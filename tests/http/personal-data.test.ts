import { eq, getTableColumns, sql } from "drizzle-orm"
import { afterAll, beforeAll, expect, it } from "vitest"
import { openDatabase, type Database } from "#db/client.ts"
import { ownerships } from "#db/ownerships.ts"
import { livingProcesses } from "#db/process-lock.ts"
import {
  authAccount,
  authPasskey,
  authSession,
  authTwoFactor,
  authUser,
  authVerification,
} from "#db/schema/auth.ts"
import {
  chatChunks,
  chatMessages,
  chatReads,
  chatReplacedMessages,
  chatShares,
  chatThreads,
  chatTurns,
  chatWaiting,
} from "#db/schema/chat.ts"
import { devices } from "#db/schema/devices.ts"
import { fileShares, fileThumbnails, fileUsage, idempotencyKeys, uploads } from "#db/schema/files.ts"
import { mailOutbox } from "#db/schema/mail.ts"
import { notifications } from "#db/schema/notifications.ts"
import { operatorActs } from "#db/schema/operator.ts"
import { authSecurityEvent } from "#db/schema/security.ts"
import { authProviderSession } from "#db/schema/single-sign-on.ts"
import { spaceInvitations, spaceMembers, spaces } from "#db/schema/spaces.ts"
import { authPicture } from "#db/schema/pictures.ts"
import { users, type User } from "#db/schema/users.ts"
import { waitlist } from "#db/schema/waitlist.ts"
import { newBlobKey } from "#server/adapters/blobs/blob-key.ts"
import { image } from "../support/images.ts"
import { findEmail } from "../support/inbox.ts"
import { ada, postJson, signUp, type Person } from "../support/people.ts"
import { allTables, findPersonalTables, nameOf } from "../support/personal-tables.ts"
import { readZip } from "../support/zip.ts"
import { withTideline } from "../support/with-tideline.ts"

let database: ReturnType<typeof openDatabase>
let db: Database
const { app } = withTideline()

beforeAll(async () => {
  database = openDatabase(app.databaseUrl, { connections: 1 })
  ;({ db } = database)
})
afterAll(async () => {
  await database.close()
})

interface Owner {
  person: Person
  user: User
  fileId: string
  threadId: string
  questionId: string
  answerId: string
}

/**
 * For tables whose rows `aRow` cannot create: how to create a person's row, and a text that no other row
 * has.
 */
const ROWS: Record<string, (owner: Owner) => Promise<string>> = {
  "public.users": async ({ user }) => user._id,
  "public.files": async ({ fileId }) => fileId,
  "public.chat_threads": async ({ threadId }) => threadId,
  "public.chat_messages": async ({ questionId }) => questionId,
  "public.chat_turns": async ({ user, threadId, questionId, answerId }) => {
    const turn = { userId: user._id, threadId, questionId, requestId: "q", model: "turn-model" }
    await db.insert(chatTurns).values({ ...turn, _id: answerId, status: "completed" })
    return turn.model
  },
  "public.chat_chunks": async ({ user, threadId, answerId }) => {
    const delta = [{ type: "text" as const, id: "1", text: "said in a chunk" }]
    await db.insert(chatChunks).values({ userId: user._id, threadId, turnId: answerId, seq: 0, delta })
    return "said in a chunk"
  },
  "public.chat_waiting": async ({ user, threadId }) => {
    const message = { userId: user._id, threadId, place: 1, requestId: "w", content: "said while waiting" }
    await db.insert(chatWaiting).values({ ...message, state: "withdrawn", endedAt: Date.now() })
    return message.content
  },
  "public.chat_reads": async ({ user, threadId }) => {
    await db.insert(chatReads).values({ userId: user._id, threadId, messageCount: 77_077, readAt: 1 })
    return "77077"
  },
  "public.chat_replaced_messages": async ({ user, threadId, questionId }) => {
    const replaced = {
      userId: user._id,
      threadId,
      replacedBy: questionId,
      replacedAt: 0,
      role: "user",
    } as const
    await db.insert(chatReplacedMessages).values({ ...replaced, content: "words before an edit" })
    return "words before an edit"
  },
  "public.chat_shares": async ({ user, threadId }) => {
    const tokenHash = "6".repeat(64)
    await db.insert(chatShares).values({ userId: user._id, threadId, tokenHash, hint: "CLUE" })
    return "CLUE"
  },
  "public.file_shares": async ({ user, fileId }) => {
    const tokenHash = "5".repeat(64)
    await db.insert(fileShares).values({ userId: user._id, fileId, tokenHash, hint: "HINT" })
    return "HINT"
  },
  "public.file_thumbnails": async ({ fileId }) => {
    await db.insert(fileThumbnails).values({ fileId, bytes: Buffer.from("thumbnail bytes") })
    return Buffer.from("thumbnail bytes").toString("hex")
  },
  "public.file_usage": async ({ user }) => {
    const used = 918_273_645
    await db.update(fileUsage).set({ used }).where(eq(fileUsage.userId, user._id))
    return String(used)
  },
  "public.idempotency_keys": async ({ user }) => {
    const hashes = { keyHash: "7".repeat(64), requestHash: "8".repeat(64) }
    const expiresAt = Date.now() + 3_600_000
    await db.insert(idempotencyKeys).values({ ...hashes, userId: user._id, response: {}, expiresAt })
    return "7".repeat(64)
  },
  "public.uploads": async ({ user }) => {
    const upload = { userId: user._id, key: newBlobKey(), reserved: 0, length: 5 }
    const expiresAt = Date.now() + 3_600_000
    await db.insert(uploads).values({ ...upload, expiresAt, fileName: "half-sent.bin" })
    return "half-sent.bin"
  },
  "public.devices": async ({ user }) => {
    const device = { userId: user._id, label: "A browser of hers", connectionId: "connection" }
    const [living] = await db.execute<{ objid: number }>(livingProcesses)
    await db.insert(devices).values({ ...device, process: Number(living?.objid) })
    return device.label
  },
  "public.mail_outbox": async ({ user }) => {
    await db.insert(mailOutbox).values({
      kind: "welcome",
      userId: user.clerkId,
      cause: "this test",
      recipient: user.email,
      messageId: "<email@example.org>",
      subject: "A subject to be found",
      text: "",
      html: "",
      state: "sent",
      nextAttemptAt: 0,
    })
    return "A subject to be found"
  },
  "public.operator_acts": async ({ user }) => {
    const about = { subjectId: user.clerkId, subjectEmail: user.email, detail: "from free to found" }
    await db.insert(operatorActs).values({ act: "change-plan", operatorId: "somebody", ...about })
    return about.detail
  },
  "public.space_members": async ({ user }) => {
    const [space] = await db.insert(spaces).values({ name: "Engine house", slug: "engine-house" }).returning()
    const member = { spaceId: space?._id ?? "", userId: user._id, role: "editor" as const }
    const [membership] = await db.insert(spaceMembers).values(member).returning()
    return membership?._id ?? ""
  },
  "public.space_invitations": async ({ user }) => {
    const [space] = await db.insert(spaces).values({ name: "Invited to", slug: "invited-to" }).returning()
    const invited = { spaceId: space?._id ?? "", tokenHash: "7".repeat(64), role: "reader" as const }
    const [inviter] = await db
      .insert(users)
      .values({ clerkId: "inviter", email: "x@example.org" })
      .returning()
    const expiresAt = Date.now() + 3_600_000
    await db
      .insert(spaceInvitations)
      .values({ ...invited, hint: "INVT", expiresAt, email: user.email, userId: inviter?._id ?? "" })
    return "INVT"
  },
  "public.notifications": async ({ user }) => {
    const [space] = await db.insert(spaces).values({ name: "Mentioned in", slug: "mentioned-in" }).returning()
    const [author] = await db.insert(users).values({ clerkId: "author", email: "y@example.org" }).returning()
    const there = { spaceId: space?._id ?? "", userId: user._id }
    await db.insert(spaceMembers).values({ ...there, role: "editor" })
    const thread = { userId: author?._id ?? "", title: "Cards", lastMessageAt: 1, spaceId: there.spaceId }
    const [{ _id: threadId } = { _id: "" }] = await db.insert(chatThreads).values(thread).returning()
    const [message] = await db
      .insert(chatMessages)
      .values({ userId: thread.userId, threadId, role: "user", content: "Where are the cards?" })
      .returning()
    const excerpt = "words around a mention"
    await db
      .insert(notifications)
      .values({ ...there, threadId, messageId: message?._id ?? "", excerpt, inApp: true })
    return excerpt
  },
  "public.waitlist": async ({ user }) => {
    const invitedAt = 1_234_567_890_123
    await db.insert(waitlist).values({ email: user.email.toUpperCase(), invitedAt })
    return String(invitedAt)
  },
  "auth.user": async ({ user }) => user.clerkId,
  "auth.session": async ({ user }) => {
    const userAgent = "A program that says who it is"
    await db.update(authSession).set({ userAgent }).where(eq(authSession.userId, user.clerkId))
    return userAgent
  },
  "auth.two_factor": async ({ user }) => {
    const factor = { secret: "an encrypted secret", backupCodes: "encrypted codes", verified: false }
    await db.insert(authTwoFactor).values({ id: "factor", ...factor, userId: user.clerkId })
    return factor.secret
  },
  "auth.passkey": async ({ user }) => {
    const passkey = { publicKey: "a public key", credentialID: "a credential", deviceType: "multiDevice" }
    const name = "a phone to be found"
    await db
      .insert(authPasskey)
      .values({ id: "passkey", name, ...passkey, counter: 0, backedUp: true, userId: user.clerkId })
    return name
  },
  "auth.account": async ({ user }) => {
    const [account] = await db.select().from(authAccount).where(eq(authAccount.userId, user.clerkId))
    return account?.password ?? ""
  },
  "auth.provider_session": async ({ user }) => {
    const [session] = await db.select().from(authSession).where(eq(authSession.userId, user.clerkId))
    await db.insert(authProviderSession).values({
      sessionId: session?.id ?? "",
      issuer: "https://login.example.org",
      sid: "sid-at-the-provider",
    })
    return "sid-at-the-provider"
  },
  "auth.security_event": async ({ user }) => {
    const userAgent = "A browser in the security log"
    const event = { userId: user.clerkId, event: "signed-in", way: "password", userAgent } as const
    await db.insert(authSecurityEvent).values({ ...event, expiresAt: Date.now() + 3_600_000 })
    return userAgent
  },
  "auth.apikey": async ({ person }) => {
    await person.apiKey()
    return "a script"
  },
  "auth.picture": async ({ person, user }) => {
    const form = new FormData()
    form.set("intent", "save-picture")
    form.set("picture", new File([new Uint8Array(await image("png", [64, 64]))], "me.png"))
    expect((await person("/dashboard/account", { method: "POST", body: form })).status).toBe(200)
    const [picture] = await db.select().from(authPicture).where(eq(authPicture.userId, user.clerkId))
    return picture?.id ?? ""
  },
  "auth.verification": async ({ user }) => {
    const reset = { id: "reset", identifier: "reset-password:a-secret-token", value: user.clerkId }
    await db.insert(authVerification).values({ ...reset, expiresAt: new Date(Date.now() + 3_600_000) })
    return "a-secret-token"
  },
}

/** What the tables declare of their rows. */
const declared = new Map([...ownerships].map(([table, whose]) => [nameOf(table), whose]))
const isLeftOut = (table: string) => "notExported" in (declared.get(table) ?? {})
/** Of a row that stays and forgets no field, everything but the person can be found. */
const isKept = (table: string) => {
  const end = declared.get(table)?.end
  return typeof end === "object" && "forgets" in end && end.forgets.length === 0
}

it("all of a person's data is in their archive, and none of it remains once their account is deleted", async () => {
  const owner = await newOwner()
  const { person, user } = owner
  await db.update(authUser).set({ emailVerified: true }).where(eq(authUser.email, user.email))
  const marks: [table: string, mark: string][] = []
  const personal = findPersonalTables(await allTables())
  expect(Object.keys(ROWS).filter((name) => !personal.includes(name))).toEqual([])
  for (const name of [...Object.keys(ROWS), ...personal.filter((each) => !(each in ROWS))])
    marks.push([name, await (ROWS[name]?.(owner) ?? aRow(name, owner))])
  for (const [table, mark] of marks) expect(await tablesWith([mark]), mark).toContain(table)

  const response = await person("/dashboard/account/export")
  const archive = readZip(Buffer.from(await response.arrayBuffer()))
    .flat()
    .join("\n")
  const found = marks.filter(([, mark]) => archive.includes(mark)).map(([table]) => table)
  expect(found).toEqual(marks.map(([table]) => table).filter((table) => !isLeftOut(table)))

  const confirmation = new URLSearchParams({ intent: "delete-account", confirmation: person.password })
  const gone = await person("/dashboard/account", { method: "POST", body: confirmation })
  expect(gone.status).toBe(303)
  await findEmail(app, person.email, /deleted/i)
  const theirs = marks.filter(([table]) => !isKept(table)).map(([, mark]) => mark)
  const traces = [user.email, user.email.toUpperCase(), user._id, user.clerkId, ...theirs]
  await expect.poll(() => tablesWith(traces)).toEqual([])
})

/**
 * Their row in a table that asks for nothing but the person, a space of theirs, texts, lists of texts
 * and numbers.
 */
async function aRow(name: string, { user }: Owner): Promise<string> {
  const table = (await allTables()).find((each) => nameOf(each) === name)
  const of = declared.get(name)?.of
  const needed = new Error(`Say in ROWS how a row of ${name} is created.`)
  if (!table || typeof of !== "string") throw needed
  const mark = `a mark of ${name}`
  const values: Record<string, unknown> = {}
  for (const [field, column] of Object.entries(getTableColumns(table))) {
    const { columnType, dataType, notNull, hasDefault } = column
    if (field === of) values[field] = columnType === "PgUUID" ? user._id : user.clerkId
    else if (!notNull || hasDefault) continue
    else if (field === "spaceKey") values[field] = await aSpace(user, name)
    else if (columnType === "PgUUID" || dataType === "json") throw needed
    else values[field] = dataType === "number" ? 1 : dataType === "array" ? [mark] : mark
  }
  await db.insert(table).values(values)
  return mark
}

async function aSpace({ _id: userId }: User, of: string): Promise<string> {
  const [{ _id: spaceId } = { _id: "" }] = await db
    .insert(spaces)
    .values({ name: "Of a row", slug: `of-${of}` })
    .returning()
  await db.insert(spaceMembers).values({ spaceId, userId, role: "editor" })
  return spaceId
}

async function newOwner(): Promise<Owner> {
  const person = await signUp(app, ada)
  await person("/onboarding")
  await db.update(users).set({ onboardingCompleted: true })
  const [user] = await db.select().from(users)
  const uploaded = await person("/api/files?name=notes.txt", { method: "POST", body: "notes" })
  const { files } = (await uploaded.json()) as { files: { _id: string }[] }
  const made = await postJson(person, "/api/chat/threads", { title: "Punched cards" })
  const { thread } = (await made.json()) as { thread: { _id: string } }
  if (!user) throw new Error("Nobody signed up.")
  const ofThread = { userId: user._id, threadId: thread._id }
  const said = [
    { ...ofThread, role: "user" as const, content: "A question" },
    { ...ofThread, role: "assistant" as const, content: "An answer" },
  ]
  const [question, answer] = await db.insert(chatMessages).values(said).returning()
  return {
    person,
    user,
    fileId: files[0]?._id ?? "",
    threadId: thread._id,
    questionId: question?._id ?? "",
    answerId: answer?._id ?? "",
  }
}

/** Every table with a row that holds one of the texts, in any column. */
async function tablesWith(texts: readonly string[]): Promise<string[]> {
  const found: string[] = []
  const tables = await db.execute<{ name: string }>(sql`
    select table_schema || '.' || table_name as name from information_schema.tables
    where table_schema in ('public', 'auth') and table_type = 'BASE TABLE'`)
  for (const { name } of tables) {
    const of = sql.raw(
      name
        .split(".")
        .map((part) => `"${part}"`)
        .join("."),
    )
    const rows = await db.execute<{ row: string }>(sql`select t::text as row from ${of} t`)
    if (rows.some(({ row }) => texts.some((sought) => row.includes(sought)))) found.push(name)
  }
  return found.toSorted()
}
