import { eq, sql } from "drizzle-orm"
import { pino } from "pino"
import PostalMime from "postal-mime"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { mailOutbox, type OutboxRow } from "#db/schema/mail.ts"
import { openSmtpMail } from "#server/adapters/mail/smtp.ts"
import { emailLater } from "#server/mail/mail.ts"
import { countOutbox, DAY, listOutbox, queueEmail, retryParked } from "#server/mail/outbox.ts"
import { claimEmails, postEmail, startPosting, tidyOutbox, waitAfter } from "#server/mail/posting.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { openSmtpReceiver, type SmtpReceiver } from "../support/smtp.ts"
import { withResource } from "../support/with-resource.ts"

const HOUR = 60 * 60 * 1000

const config = { origin: "https://tideline.example.org" }
const ada = { clerkId: "user_ada", email: "ada@example.org", name: "Ada", language: null }
const message = { subject: "A subject", text: "Some words.\n", html: "<p>Some words.</p>" }

const database = withResource(createTestDatabase)
let receiver: SmtpReceiver
/** The mail server's response to a recipient; null accepts them. */
let verdict: ((address: string) => { code: number; words: string } | null) | null = null

beforeAll(async () => {
  receiver = await openSmtpReceiver({
    onRcptTo({ address }, _session, answer) {
      const refusal = verdict?.(address) ?? null
      answer(refusal && Object.assign(new Error(refusal.words), { responseCode: refusal.code }))
    },
  })
})

beforeEach(async () => {
  verdict = null
  receiver.received.length = 0
  await receiver.start()
  await database.db.delete(mailOutbox)
})

const running: ReturnType<typeof startPosting>[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((posting) => posting.stop()))
})

afterAll(() => receiver.stop())

describe("an email in the outbox", () => {
  test("arrives as it was written, under the stored message id", async () => {
    await emailLater(outbox(), "welcome", ada)
    const [row] = await rows()
    start()
    await settled()
    const [mail] = receiver.received
    expect(mail?.envelope.to).toEqual(["ada@example.org"])
    const parsed = await PostalMime.parse(mail?.source ?? "")
    expect(parsed.messageId).toBe(row?.messageId)
    expect(parsed.messageId).toMatch(/^<[\da-f]{40}@tideline\.example\.org>$/)
    expect(parsed.subject).toBe("Welcome to Tideline")
    expect(parsed.text?.replaceAll("\r\n", "\n").trim()).toBe(row?.text.trim())
  })

  test("arrives with accented characters intact, in the subject and in both parts", async () => {
    await emailLater(outbox(), "account-deleted", { ...ada, language: "de" })
    start()
    await settled()
    const { subject, text, html } = await PostalMime.parse(receiver.received[0]?.source ?? "")
    expect(subject).toBe("Ihr Konto bei Tideline ist gelöscht")
    for (const part of [text, html]) expect(part).toContain("Wenn nicht Sie das Konto gelöscht haben")
  })

  test("keeps none of its content once it is sent", async () => {
    await emailLater(outbox(), "welcome", ada)
    start()
    await settled()
    expect(await rows()).toMatchObject([
      { state: "sent", recipient: ada.email, text: "", html: "", leaseUntil: null, attempts: 1 },
    ])
  })

  test("keeps nothing at all once it is sent, if its account is deleted", async () => {
    await emailLater(outbox(), "account-deleted", ada)
    start()
    await settled()
    expect(receiver.received).toHaveLength(1)
    expect(await rows()).toEqual([])
  })

  test("is written once for each cause, however often it is requested", async () => {
    const asked = await Promise.all(Array.from({ length: 20 }, () => emailLater(outbox(), "welcome", ada)))
    expect(asked.filter(Boolean)).toHaveLength(1)
    await emailLater(outbox(), "welcome", { ...ada, clerkId: "user_grace" })
    expect(await rows()).toHaveLength(2)
  })

  test("is written once for each cause without an account too", async () => {
    const posting = {
      kind: "waitlist-invitation",
      userId: null,
      cause: "x",
      to: "a@example.org",
      message,
    } as const
    expect(await queueEmail(outbox(), posting)).toBe(true)
    expect(await queueEmail(outbox(), posting)).toBe(false)
  })

  test("is in the recipient's language, and in English if that is unknown", async () => {
    await emailLater(outbox(), "welcome", ada)
    await emailLater(outbox(), "account-deleted", { ...ada, language: "de" })
    expect((await rows()).map(({ subject }) => subject).toSorted()).toEqual([
      "Ihr Konto bei Tideline ist gelöscht",
      "Welcome to Tideline",
    ])
  })

  test("is committed with the transaction that caused it", async () => {
    await expect(
      database.db.transaction(async (db) => {
        await emailLater({ db, config }, "welcome", ada)
        throw new Error("The cause was taken back.")
      }),
    ).rejects.toThrow("taken back")
    expect(await rows()).toEqual([])
  })

  test("is never visible to live queries: its table is in no publication", async () => {
    const published = await database.db.execute(
      sql`select 1 from pg_publication_tables where tablename = 'mail_outbox'`,
    )
    expect(published).toHaveLength(0)
  })
})

describe("a process that sends emails", () => {
  test("sends those that are announced, without waiting for its next check", async () => {
    const { announcements } = start({ interval: HOUR })
    for (let i = 0; i < 5; i++) {
      await emailLater(outbox(), "welcome", { ...ada, clerkId: `user_${i}` })
      announcements["mail.queued"]?.("")
      await settled()
    }
    expect(receiver.received).toHaveLength(5)
  })

  test("is told of them at their commit, and not if they are taken back", async () => {
    await database.db.execute(sql`select pg_create_logical_replication_slot('outbox', 'pgoutput')`)
    try {
      const taken = database.db.transaction(async (db) => {
        await emailLater({ db, config }, "welcome", ada)
        throw new Error("The cause was taken back.")
      })
      await expect(taken).rejects.toThrow("taken back")
      expect(await countAnnouncements()).toBe(0)
      await database.db.transaction(async (db) => {
        await emailLater({ db, config }, "welcome", ada)
        expect(await countAnnouncements()).toBe(0)
      })
      expect(await countAnnouncements()).toBe(1)
    } finally {
      await database.db.execute(sql`select pg_drop_replication_slot('outbox')`)
    }
  })
})

describe("email that someone else can trigger", () => {
  test("is limited to five with valid links for an address, requested concurrently or not", async () => {
    const queued = await Promise.all(Array.from({ length: 15 }, (_, i) => askForReset(i)))
    expect(queued.filter(Boolean)).toHaveLength(5)
    expect(await askForReset(100)).toBe(false)
    expect(await rows()).toHaveLength(5)
  })

  test("cannot lock out the owner: anyone who is cut off already has a valid link", async () => {
    for (let i = 0; i < 6; i++) await askForReset(i)
    const [one, other] = await rows()
    await database.db
      .update(mailOutbox)
      .set({ expiresAt: Date.now() - 1 })
      .where(eq(mailOutbox._id, one?._id ?? ""))
    expect(await askForReset(101)).toBe(true)
    expect(await askForReset(102)).toBe(false)
    await database.db
      .update(mailOutbox)
      .set({ state: "parked" })
      .where(eq(mailOutbox._id, other?._id ?? ""))
    expect(await askForReset(103)).toBe(true)
  })
})

describe("an unavailable mail server", () => {
  test("delays emails, and the reason is stored", async () => {
    await receiver.stop()
    await emailLater(outbox(), "welcome", ada)
    const before = Date.now()
    const outcome = await attemptOnce()
    expect(outcome).toMatchObject({ kind: "delayed", reason: expect.stringMatching(/reached|refused/) })
    const [row] = await rows()
    expect(row).toMatchObject({ state: "queued", attempts: 1, leaseUntil: null })
    expect(row?.lastError).toMatch(/^The mail server did not accept the message: it /)
    expect(row?.lastError).not.toMatch(/127\.0\.0\.1|\d{4}/)
    expect((row?.nextAttemptAt ?? 0) - before).toBeGreaterThan(3000)
    expect(await claimEmails(database, 10)).toEqual([])
  })

  test("receives them when it is back", async () => {
    await receiver.stop()
    for (let i = 0; i < 10; i++) await emailLater(outbox(), "welcome", { ...ada, clerkId: `user_${i}` })
    const { logged } = start()
    await expect.poll(async () => (await rows()).every(({ attempts }) => attempts > 0)).toBe(true)
    await receiver.start()
    await makeDue()
    await settled()
    expect(receiver.received).toHaveLength(10)
    const words = logged.map(({ msg }) => msg)
    expect(
      words.filter((msg) => msg === "emails cannot be delivered; they are kept in the outbox"),
    ).toHaveLength(1)
    expect(words.filter((msg) => msg === "email delivery resumed")).toHaveLength(1)
  })

  test("is retried at growing intervals, never by all emails at the same moment", () => {
    for (let attempt = 1; attempt < 40; attempt++) {
      const wait = Math.min(2 * 60 * 60 * 1000, 5000 * 2 ** (attempt - 1))
      for (let i = 0; i < 20; i++) {
        expect(waitAfter(attempt)).toBeGreaterThanOrEqual(wait * 0.8)
        expect(waitAfter(attempt)).toBeLessThanOrEqual(wait * 1.2)
      }
    }
    expect(new Set(Array.from({ length: 20 }, () => waitAfter(3))).size).toBeGreaterThan(10)
  })

  test("does not receive an email whose link has expired: it is parked", async () => {
    await queueEmail(outbox(), {
      kind: "reset-password",
      userId: "user_ada",
      cause: "late",
      to: ada.email,
      message,
      expiresAt: Date.now() - 1,
    })
    expect(await attemptOnce()).toMatchObject({ kind: "parked" })
    expect(receiver.received).toEqual([])
    expect(await retryParked(database)).toBe(0)
  })
})

describe("an undeliverable email", () => {
  test("is parked immediately if the server refuses it permanently, and delays no other", async () => {
    verdict = (address) => (address === "poison@example.org" ? { code: 550, words: "No such user" } : null)
    await emailLater(outbox(), "welcome", { ...ada, clerkId: "user_poison", email: "poison@example.org" })
    await emailLater(outbox(), "welcome", ada)
    const { logged } = start()
    await settled()
    expect(receiver.received.map(({ envelope }) => envelope.to)).toEqual([["ada@example.org"]])
    expect(await listOutbox(database, { state: "parked" })).toMatchObject([
      {
        recipient: "poison@example.org",
        attempts: 1,
        lastError: "The mail server answered: 550 No such user",
      },
    ])
    expect(await countOutbox(database)).toEqual({ queued: 0, sent: 1, parked: 1 })
    expect(logged).toContainEqual(
      expect.objectContaining({ msg: "email parked after failed delivery; action needed" }),
    )
    expect(JSON.stringify(logged)).not.toContain("poison@example.org")
  })

  test("is retried if the server defers it, and parked after thirty deferrals", async () => {
    verdict = () => ({ code: 451, words: "Try later" })
    await emailLater(outbox(), "welcome", ada)
    expect(await attemptOnce()).toMatchObject({ kind: "delayed" })
    await database.db.update(mailOutbox).set({ attempts: 29 })
    expect(await attemptOnce()).toMatchObject({ kind: "parked" })
    expect(await rows()).toMatchObject([{ state: "parked", attempts: 30 }])
  })

  test("is parked without another attempt if every process that tried to send it crashed", async () => {
    await emailLater(outbox(), "welcome", ada)
    await database.db.update(mailOutbox).set({ attempts: 30 })
    expect(await attemptOnce()).toEqual({ kind: "parked", reason: "None of 30 attempts came to an end." })
    expect(receiver.received).toEqual([])
  })

  test("gets all its attempts again if the operator asks", async () => {
    verdict = () => ({ code: 550, words: "Not yet" })
    await emailLater(outbox(), "welcome", ada)
    await emailLater(outbox(), "welcome", { ...ada, clerkId: "user_other" })
    await attemptOnce()
    await attemptOnce()
    const [first] = await listOutbox(database, { state: "parked" })
    verdict = null
    expect(await retryParked(database, [first?._id ?? ""])).toBe(1)
    expect(await retryParked(database)).toBe(1)
    start()
    await settled()
    expect(receiver.received).toHaveLength(2)
  })

  test.each([
    ["two addresses", "ada@example.org, eve@example.org"],
    ["a second line", "ada@example.org\r\nBcc: eve@example.org"],
    ["a group", "all:ada@example.org,eve@example.org;"],
    ["a name", "Eve <eve@example.org>"],
    ["nothing", ""],
  ])("is parked, and never reaches the server, if its address is %s", async (_what, email) => {
    await emailLater(outbox(), "welcome", { ...ada, email })
    expect(await attemptOnce()).toMatchObject({ kind: "parked" })
    expect(receiver.received).toEqual([])
  })
})

describe("several processes", () => {
  test("share the emails: each is sent once", async () => {
    for (let i = 0; i < 60; i++)
      await emailLater(outbox(), "welcome", { ...ada, clerkId: `user_${i}`, email: `p${i}@example.org` })
    start()
    start()
    start()
    await settled()
    const recipients = receiver.received.map(({ envelope }) => envelope.to[0])
    expect(recipients).toHaveLength(60)
    expect(new Set(recipients).size).toBe(60)
  })

  test("claim different emails", async () => {
    for (let i = 0; i < 30; i++) await emailLater(outbox(), "welcome", { ...ada, clerkId: `user_${i}` })
    const claims = await Promise.all(Array.from({ length: 10 }, () => claimEmails(database, 4)))
    const ids = claims.flat().map(({ _id }) => _id)
    expect(ids.length).toBeLessThanOrEqual(30)
    expect(new Set(ids).size).toBe(ids.length)
    for (const claimed of claims) expect(claimed.length).toBeLessThanOrEqual(4)
  })

  test("take over an email claimed by a dead process, but only after its lease has expired", async () => {
    await emailLater(outbox(), "welcome", ada)
    const [claimed] = await claimEmails(database, 1)
    expect((claimed?.leaseUntil ?? 0) - Date.now()).toBeGreaterThan(90_000)
    expect(await claimEmails(database, 1)).toEqual([])
    await database.db.update(mailOutbox).set({ leaseUntil: Date.now() - 1 })
    start()
    await settled()
    expect(receiver.received).toHaveLength(1)
    expect(await rows()).toMatchObject([{ state: "sent", attempts: 2 }])
  })

  test("ignore each other's late results: a failure after the lease changes nothing", async () => {
    await emailLater(outbox(), "welcome", ada)
    const [late] = await claimEmails(database, 1)
    await database.db.update(mailOutbox).set({ leaseUntil: Date.now() - 1 })
    const [current] = await claimEmails(database, 1)
    verdict = () => ({ code: 550, words: "Late" })
    await postEmail(scope(), required(late))
    expect(await rows()).toMatchObject([{ state: "queued", leaseUntil: current?.leaseUntil }])
  })

  test("send an email again under the same id if its delivery was never recorded", async () => {
    await emailLater(outbox(), "welcome", ada)
    const [claimed] = await claimEmails(database, 1)
    const { recipient: to, subject, text, html, messageId } = required(claimed)
    await openMail().send({ to, subject, text, html, messageId }) // and the process dies here
    await database.db.update(mailOutbox).set({ leaseUntil: Date.now() - 1 })
    start()
    await settled()
    const ids = await Promise.all(
      receiver.received.map(async ({ source }) => (await PostalMime.parse(source)).messageId),
    )
    expect(ids).toEqual([messageId, messageId])
  })
})

describe("the outbox history", () => {
  test("keeps sent emails for a month, parked ones for three months, and all that wait", async () => {
    const age = { sent: 30, parked: 90, queued: 400 }
    for (const [state, days] of Object.entries(age)) {
      for (const more of [-1, 1]) {
        await queueEmail(outbox(), {
          kind: "welcome",
          userId: state,
          cause: String(more),
          to: ada.email,
          message,
        })
        await database.db
          .update(mailOutbox)
          .set({ state: state as OutboxRow["state"], _creationTime: Date.now() - (days + more) * DAY })
          .where(sql`${mailOutbox.userId} = ${state} and ${mailOutbox.cause} = ${String(more)}`)
      }
    }
    await tidyOutbox(scope())
    expect(await countOutbox(database)).toEqual({ sent: 1, parked: 1, queued: 2 })
  })

  test("is listed in pages, without the emails' content", async () => {
    for (let i = 0; i < 5; i++) await emailLater(outbox(), "welcome", { ...ada, clerkId: `user_${i}` })
    const first = await listOutbox(database, { limit: 3 })
    const rest = await listOutbox(database, { limit: 3, before: first.at(-1)?._id ?? "" })
    expect([...first, ...rest].map(({ userId }) => userId)).toEqual([4, 3, 2, 1, 0].map((i) => `user_${i}`))
    expect(Object.keys(first[0] ?? {})).not.toContain("html")
    expect(Object.keys(first[0] ?? {})).not.toContain("text")
  })
})

const outbox = () => ({ db: database.db, config })

function askForReset(i: number) {
  return emailLater(outbox(), "reset-password", {
    userId: "user_ada",
    email: i % 2 ? "ada@example.org" : "Ada@Example.ORG",
    language: "en",
    url: `https://tideline.example.org/reset?token=${i}`,
    minutes: 60,
  })
}

const openMail = () => openSmtpMail({ url: receiver.url, from: "Tideline <tideline@example.org>" })

function scope(logged: Record<string, unknown>[] = []) {
  const log = pino({ level: "debug" }, { write: (line) => void logged.push(JSON.parse(line)) })
  return { db: database.db, mail: openMail(), log }
}

/** A process that sends emails until the test is over. */
function start({ interval }: { interval?: number } = {}) {
  const logged: Record<string, unknown>[] = []
  const posting = startPosting(scope(logged), interval)
  running.push(posting)
  return { logged, ...posting }
}

/** How often a process would have been told of emails so far. */
async function countAnnouncements() {
  const changes = await database.db.execute<{ data: Buffer }>(
    sql`select data from pg_logical_slot_peek_binary_changes('outbox', null, null,
        'proto_version', '1', 'publication_names', 'none', 'messages', 'true')`,
  )
  return changes.filter(({ data }) => data.includes("realtime.announce.mail.queued")).length
}

async function attemptOnce() {
  await makeDue()
  const [claimed] = await claimEmails(database, 1)
  return postEmail(scope(), required(claimed))
}

/** Lets waits and leases expire, as time would. */
function makeDue() {
  return database.db
    .update(mailOutbox)
    .set({ nextAttemptAt: Date.now() - 1000 })
    .where(eq(mailOutbox.state, "queued"))
}

/** Resolves when no email is waiting. */
async function settled() {
  await expect.poll(async () => (await countOutbox(database)).queued, { timeout: 20_000 }).toBe(0)
}

function rows() {
  return database.db.select().from(mailOutbox).orderBy(mailOutbox._id)
}

function required(row: OutboxRow | undefined): OutboxRow {
  if (!row) throw new Error("No email was claimed.")
  return row
}
