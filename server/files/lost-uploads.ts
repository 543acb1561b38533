import { sql } from "drizzle-orm"
import { livingProcesses } from "#db/process-lock.ts"
import { uploads } from "#db/schema/files.ts"
import { createFailureLog } from "#server/log.ts"
import { startRecurring, type Recurring } from "#server/recurring.ts"
import type { Scope } from "#server/scope.ts"
import { discardUpload } from "./discard.ts"

type Discarding = Scope<"db" | "blobs" | "log">

/** Milliseconds. */
const INTERVAL = 2500

/**
 * Regularly looks for uploads in one request whose process has died, so that the space they have
 * reserved is free within seconds. If there are none, a look reads one empty index.
 */
export function startDiscardingLostUploads(scope: Discarding): Recurring {
  let suspects = new Set<string>()
  const failures = createFailureLog(scope.log, "interrupted uploads can be discarded again")
  return startRecurring(async () => {
    try {
      suspects = await discardLostUploads(scope, suspects)
      failures.succeeded()
    } catch (error) {
      failures.failed("warn", error, "could not look for interrupted uploads; will try again")
    }
  }, INTERVAL)
}

/**
 * Discards uploads of processes that have ended. A process without its lock is only a suspect at
 * first, because after a restart of PostgreSQL all processes have to take their locks again.
 * Resolves with the suspects, for the next call.
 */
export async function discardLostUploads(
  scope: Discarding,
  suspects: ReadonlySet<string>,
): Promise<Set<string>> {
  const lost = await scope.db
    .select({ _id: uploads._id })
    .from(uploads)
    .where(sql`${uploads.process} is not null and ${uploads.process} not in (${livingProcesses})`)
  const suspected = new Set<string>()
  for (const { _id } of lost) {
    if (suspects.has(_id)) await discardUpload(scope, _id)
    else suspected.add(_id)
  }
  return suspected
}
