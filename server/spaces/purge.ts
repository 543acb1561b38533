import { and, asc, inArray, lt } from "drizzle-orm"
import { spaceMembers, spaces } from "#db/schema/spaces.ts"
import { startRecurring, type Recurring } from "#server/recurring.ts"
import type { Scope } from "#server/scope.ts"
import { SPACE_TRASH_LIFETIME } from "./contract.ts"

/** Milliseconds between two checks. */
const INTERVAL = 60 * 60 * 1000

/**
 * Every hour, permanently deletes spaces that have been in the trash for 30 days with everything in
 * them. Any number of processes may run it concurrently.
 */
export function startPurgingSpaces({ db, log }: Scope<"db" | "log">): Recurring {
  return startRecurring(
    () =>
      purgeSpaces({ db }).catch((error: unknown) => {
        log.warn({ err: error }, "could not purge trashed spaces; will retry")
      }),
    INTERVAL,
  )
}

export async function purgeSpaces({ db }: Scope<"db">, now = Date.now()): Promise<void> {
  await db.transaction(async (tx) => {
    const over = and(spaces.trashed, lt(spaces.trashedAt, now - SPACE_TRASH_LIFETIME))
    // Memberships are locked before everything else.
    await tx
      .select({ _id: spaceMembers._id })
      .from(spaceMembers)
      .where(inArray(spaceMembers.spaceId, tx.select({ _id: spaces._id }).from(spaces).where(over)))
      .orderBy(asc(spaceMembers.spaceId), asc(spaceMembers._id))
      .for("update")
    await tx.delete(spaces).where(over)
  })
}
