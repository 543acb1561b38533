import { count, eq, inArray, isNull, sql, sum } from "drizzle-orm"
import { chatTurns } from "#db/schema/chat.ts"
import { fileUsage, uploads } from "#db/schema/files.ts"
import { mailOutbox } from "#db/schema/mail.ts"
import { listDamage } from "#server/files/damage.ts"
import type { Scope } from "#server/scope.ts"

/** An email that waits longer than this has failed several times. Seconds. */
export const LONG_WAIT = 15 * 60

/** What is in progress in the database, in any process. */
export async function countQueued({ db }: Scope<"db">) {
  const [[turns], [running], emails, [bytes], damaged] = await Promise.all([
    db.select({ count: count() }).from(chatTurns).where(eq(chatTurns.status, "running")),
    // Finished ones are only kept as records.
    db.select({ count: count() }).from(uploads).where(isNull(uploads.fileId)),
    countEmails({ db }),
    db.select({ used: sum(fileUsage.used), reserved: sum(fileUsage.reserved) }).from(fileUsage),
    listDamage({ db }),
  ])
  return {
    turns: turns?.count ?? 0,
    uploads: running?.count ?? 0,
    emails,
    damaged: damaged.listed,
    bytes: { used: Number(bytes?.used ?? 0), reserved: Number(bytes?.reserved ?? 0) },
  }
}

/** Unsent emails: how many are queued and parked, and the age of the oldest. */
export async function countEmails({ db }: Scope<"db">) {
  const { state, _creationTime } = mailOutbox
  const rows = await db
    .select({
      state,
      count: count(),
      longest: sql<number>`max(extract(epoch from now()) - ${_creationTime} / 1000)`.mapWith(Number),
    })
    .from(mailOutbox)
    .where(inArray(state, ["queued", "parked"]))
    .groupBy(state)
  const of = (wanted: string) => rows.find((row) => row.state === wanted)
  return {
    queued: of("queued")?.count ?? 0,
    parked: of("parked")?.count ?? 0,
    oldestSeconds: Math.max(0, of("queued")?.longest ?? 0),
  }
}
