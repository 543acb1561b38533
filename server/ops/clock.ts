import { sql } from "drizzle-orm"
import { createFailureLog } from "#server/log.ts"
import { startRecurring, type Recurring } from "#server/recurring.ts"
import type { Scope } from "#server/scope.ts"

/** Milliseconds. Leases, tokens and one-time codes are compared with the database's clock. */
export const CLOCK_TOLERANCE = 2000

const INTERVAL = 10 * 60 * 1000

/** How far this machine's clock is ahead of PostgreSQL's, in milliseconds; negative if behind. */
export async function measureClock({ db }: Scope<"db">): Promise<number> {
  const before = Date.now()
  const [row] = await db.execute<{ now: number }>(
    sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`,
  )
  return Math.round((before + Date.now()) / 2 - Number(row?.now))
}

/** Warns in the log while this machine's clock and PostgreSQL's differ. */
export function startWatchingClock(scope: Scope<"db" | "log">, interval = INTERVAL): Recurring {
  const failures = createFailureLog(scope.log, "this machine's clock agrees with PostgreSQL's again")
  return startRecurring(async () => {
    // An outage is logged by those who need the database.
    const ahead = await measureClock(scope).catch(() => null)
    if (ahead === null) return
    if (Math.abs(ahead) <= CLOCK_TOLERANCE) failures.succeeded()
    else
      failures.failed("warn", null, "this machine's clock differs from PostgreSQL's; correct it by NTP", {
        secondsAhead: Math.round(ahead / 1000),
      })
  }, interval)
}
