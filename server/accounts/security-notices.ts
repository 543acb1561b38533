import { createHash } from "node:crypto"
import { and, count, eq, gt } from "drizzle-orm"
import { mailOutbox } from "#db/schema/mail.ts"
import type { SecurityEventRow } from "#db/schema/security.ts"
import { emailLater } from "#server/mail/mail.ts"
import type { NoticeSubject } from "#server/mail/security-email.ts"
import type { Language } from "#server/language-contract.ts"
import type { Config } from "#server/config.ts"
import type { Scope } from "#server/scope.ts"

/** `db` may be the transaction that makes the change. */
export type Recording = Scope<"db" | "log"> & { config: Pick<Config, "origin" | "securityLogDays"> }

/** Milliseconds. */
const DAY = 24 * 60 * 60 * 1000

/** Emails per day. After that, a sign-in in another new browser is only in the log. */
const MOST_A_DAY = 20

/** The events that cause an email, which nobody can switch off. */
const SUBJECTS: Partial<Record<SecurityEventRow["event"], NoticeSubject>> = {
  "signed-in": "new-browser",
  "password-changed": "password-changed",
  "password-reset": "password-changed",
  "address-changed": "address-changed",
  "key-created": "key-created",
  "second-factor-added": "second-factor-added",
  "second-factor-removed": "second-factor-removed",
  "passkey-added": "passkey-added",
  "passkey-removed": "passkey-removed",
}

/**
 * Queues the email about an event, in a savepoint of the open transaction. It never throws: an
 * email that cannot be written must not undo its event.
 */
export async function queueSecurityNotice(
  { db, config, log }: Recording,
  entry: SecurityEventRow,
  { email, language }: { email: string; language: Language | null },
): Promise<void> {
  const { event, facts, userId, userAgent, address, _creationTime: at } = entry
  const subject = SUBJECTS[event]
  const isNewBrowser = event === "signed-in"
  if (!subject || (isNewBrowser && !facts?.newBrowser)) return
  try {
    await db.transaction(async (inner) => {
      if (isNewBrowser && (await countNotices({ db: inner }, userId)) >= MOST_A_DAY) return
      await emailLater({ db: inner, config }, "security-notice", {
        userId,
        email: facts?.previous ?? email,
        language,
        // A program that signs in every hour counts as one new browser a day.
        cause: isNewBrowser ? digestOf([userAgent, address, Math.floor(at / DAY)]) : entry._id,
        subject,
        facts: { at, address, userAgent, name: facts?.name ?? null },
      })
    })
  } catch (error) {
    log.error({ err: error, event }, "could not queue the email about a security event")
  }
}

async function countNotices({ db }: Pick<Recording, "db">, userId: string): Promise<number> {
  const isRecent = gt(mailOutbox._creationTime, Date.now() - DAY)
  const isTheirs = and(eq(mailOutbox.userId, userId), eq(mailOutbox.kind, "security-notice"))
  const [notices] = await db.select({ number: count() }).from(mailOutbox).where(and(isTheirs, isRecent))
  return notices?.number ?? 0
}

function digestOf(parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url")
}
