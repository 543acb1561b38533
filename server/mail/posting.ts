import { setTimeout as delay } from "node:timers/promises"
import { and, asc, eq, getTableColumns, isNull, lt, lte, or, sql } from "drizzle-orm"
import { isOutage } from "#live/check"
import { mailOutbox, type OutboxRow } from "#db/schema/mail.ts"
import { createFailureLog } from "#server/log.ts"
import { isPermanent } from "#server/ports/mail.ts"
import type { Announcements } from "#live/open"
import type { Scope } from "#server/scope.ts"
import { DAY, databaseNow } from "./outbox.ts"

type Posting = Scope<"db" | "mail" | "log">

/**
 * How often an idle process checks for emails that are due again, and for those whose announcement
 * it missed. Milliseconds.
 */
const INTERVAL = 1000

/** Announced by the rule `announce_queued_emails`. */
const QUEUED = "mail.queued"

/** Emails that one process sends at the same time, each over its own connection. */
const AT_ONCE = 5

/** The limit of an attempt. After the lease, a dead process's emails go to others. Milliseconds. */
const SEND_TIMEOUT = 90_000
const LEASE = 120_000
const TIMEOUT_AT_END = 4000

/** With the delays below, the last attempt comes after about a day and a half. */
const MOST_ATTEMPTS = 30

/** Milliseconds. */
const FIRST_WAIT = 5000
const LONGEST_WAIT = 2 * 60 * 60 * 1000
const TIDY_INTERVAL = 60 * 60 * 1000
const KEPT = { sent: 30 * DAY, parked: 90 * DAY }

export interface RunningPosting {
  /** Handlers, by topic, for announcements of any process. */
  announcements: Announcements
  /** Waits a few seconds for emails that are being sent; the rest is left to the next process. */
  stop(): Promise<void>
}

/**
 * Sends queued emails for as long as the process lives. Any number of processes may do so: each
 * email belongs to one of them at a time. An email is delivered at least once, and twice if a
 * process dies after the mail server accepted it and before recording that.
 */
export function startPosting(scope: Posting, interval = INTERVAL): RunningPosting {
  const stopping = new AbortController()
  const onTheirWay = new Set<Promise<void>>()
  const failures = createFailureLog(scope.log, "the outbox can be read again")
  let isTroubled = false
  let isDue = false
  let endSleep: (() => void) | null = null
  const running = run()

  async function run() {
    while (!stopping.signal.aborted) {
      isDue = false
      const begun = await begin()
      if (!isDue && (begun === 0 || onTheirWay.size >= AT_ONCE)) await sleep()
    }
  }

  async function begin() {
    const emails = await claimEmails(scope, AT_ONCE - onTheirWay.size).catch((error: unknown) => {
      // An unreachable database is reported elsewhere.
      if (!isOutage(error))
        failures.failed("error", error, "could not read the outbox; the next attempt follows shortly")
      return null
    })
    if (emails === null) return 0
    failures.succeeded()
    for (const message of emails) {
      const sending = postEmail(scope, message)
        .then(noteTrouble)
        .catch((error: unknown) => {
          scope.log.error(
            { err: error, emailId: message._id },
            "could not record the delivery result of an email",
          )
        })
        .finally(() => {
          onTheirWay.delete(sending)
          wake()
        })
      onTheirWay.add(sending)
    }
    return emails.length
  }

  /**
   * Logged once when emails start to wait and once when delivery resumes, not for each of a
   * thousand.
   */
  function noteTrouble(outcome: Outcome) {
    if (outcome.kind === "delayed" && !isTroubled)
      scope.log.warn({ reason: outcome.reason }, "emails cannot be delivered; they are kept in the outbox")
    if (outcome.kind === "sent" && isTroubled) scope.log.info("email delivery resumed")
    if (outcome.kind !== "parked") isTroubled = outcome.kind === "delayed"
  }

  function sleep() {
    return new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, interval)
      endSleep = () => {
        clearTimeout(timer)
        resolve()
      }
      if (stopping.signal.aborted) endSleep()
    })
  }

  function wake() {
    isDue = true
    endSleep?.()
  }

  const tidying = setInterval(() => void tidyOutbox(scope), TIDY_INTERVAL)
  tidying.unref()

  return {
    announcements: { [QUEUED]: wake },
    async stop() {
      clearInterval(tidying)
      stopping.abort()
      wake()
      await running
      await Promise.race([Promise.all(onTheirWay), delay(TIMEOUT_AT_END, null, { ref: false })])
    },
  }
}

/** Claims due emails, longest-waiting first, so that no other process takes them for `LEASE`. */
export async function claimEmails({ db }: Scope<"db">, most: number): Promise<OutboxRow[]> {
  const due = db.$with("due").as(
    db
      .select({ id: sql<string>`${mailOutbox._id}`.as("id") })
      .from(mailOutbox)
      .where(
        and(
          sql`${mailOutbox.state} = 'queued'`, // not as a parameter: the index of waiting emails says the same
          lte(mailOutbox.nextAttemptAt, databaseNow),
          or(isNull(mailOutbox.leaseUntil), lt(mailOutbox.leaseUntil, databaseNow)),
        ),
      )
      .orderBy(asc(mailOutbox.nextAttemptAt))
      .limit(most)
      .for("update", { skipLocked: true }),
  )
  return db
    .with(due)
    .update(mailOutbox)
    .set({ attempts: sql`${mailOutbox.attempts} + 1`, leaseUntil: sql`${databaseNow} + ${LEASE}::bigint` })
    .from(due)
    .where(eq(mailOutbox._id, due.id))
    .returning(getTableColumns(mailOutbox))
}

type Outcome = { kind: "sent" } | { kind: "delayed" | "parked"; reason: string }

/** Makes one attempt at a claimed email and records the result. */
export async function postEmail(scope: Posting, message: OutboxRow): Promise<Outcome> {
  const outcome = await attempt(scope, message)
  await insistOn(() => writeDown(scope, message, outcome))
  if (outcome.kind === "parked") {
    const { _id, kind, attempts } = message
    scope.log.error(
      { message: _id, kind, attempts, reason: outcome.reason },
      "email parked after failed delivery; action needed",
    )
  }
  return outcome
}

async function attempt({ mail }: Posting, message: OutboxRow): Promise<Outcome> {
  const { recipient: to, subject, text, html, messageId, attempts, expiresAt } = message
  if (expiresAt !== null && expiresAt < Date.now())
    return { kind: "parked", reason: "Its link ran out before the mail server took it." }
  // Every process that tried to send it crashed.
  if (attempts > MOST_ATTEMPTS)
    return { kind: "parked", reason: `None of ${MOST_ATTEMPTS} attempts came to an end.` }
  const giveUp = new AbortController()
  try {
    await Promise.race([
      mail.send({ to, subject, text, html, messageId }),
      delay(SEND_TIMEOUT, null, { signal: giveUp.signal, ref: false }).then(() => {
        throw new Error("The mail server did not accept the message: it did not respond in time")
      }),
    ])
    return { kind: "sent" }
  } catch (error) {
    const reason = error instanceof Error ? error.message : "unknown reason"
    return { kind: isPermanent(error) || attempts >= MOST_ATTEMPTS ? "parked" : "delayed", reason }
  } finally {
    giveUp.abort()
  }
}

async function writeDown({ db }: Scope<"db">, message: OutboxRow, outcome: Outcome) {
  const same = eq(mailOutbox._id, message._id)
  if (outcome.kind === "sent" && message.kind === "account-deleted") {
    await db.delete(mailOutbox).where(same)
    return
  }
  if (outcome.kind === "sent") {
    const emptied = { text: "", html: "", leaseUntil: null, lastError: null }
    await db
      .update(mailOutbox)
      .set({ ...emptied, state: "sent", sentAt: databaseNow })
      .where(same)
    return
  }
  const lastError = outcome.reason.replaceAll("\0", "").slice(0, 500)
  const wait = Math.round(waitAfter(message.attempts))
  await db
    .update(mailOutbox)
    .set({
      lastError,
      leaseUntil: null,
      ...(outcome.kind === "parked"
        ? { state: "parked" }
        : { nextAttemptAt: sql`${databaseNow} + ${wait}::bigint` }),
    })
    // Unless the lease ran out and another process has it.
    .where(and(same, eq(mailOutbox.state, "queued"), eq(mailOutbox.attempts, message.attempts)))
}

/**
 * Doubles with every attempt, plus or minus a fifth, so that emails that failed together are not
 * retried together. Milliseconds.
 */
export function waitAfter(attempts: number): number {
  return Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempts - 1)) * (0.8 + Math.random() * 0.4)
}

/**
 * A sent email that is not recorded is sent again, so an outage of the database is waited out while
 * the lease lasts.
 */
async function insistOn(note: () => Promise<void>) {
  const until = performance.now() + LEASE - SEND_TIMEOUT
  for (;;) {
    try {
      return await note()
    } catch (error) {
      if (!isOutage(error) || performance.now() > until) throw error
      await delay(500)
    }
  }
}

/**
 * Deletes emails that were sent a month ago, and parked ones that nobody retried for a quarter of a
 * year.
 */
export async function tidyOutbox({ db, log }: Scope<"db" | "log">): Promise<void> {
  try {
    await db
      .delete(mailOutbox)
      .where(
        or(
          and(eq(mailOutbox.state, "sent"), olderThan(KEPT.sent)),
          and(eq(mailOutbox.state, "parked"), olderThan(KEPT.parked)),
        ),
      )
  } catch (error) {
    log.warn({ err: error }, "could not remove old emails; will retry")
  }
}

function olderThan(age: number) {
  return lt(mailOutbox._creationTime, sql`${databaseNow} - ${age}::bigint`)
}
