import { sql } from "drizzle-orm"
import type { Scope } from "#server/scope.ts"

/** How far this machine's clock is ahead of PostgreSQL's, in milliseconds; negative if behind. */
export async function measureClock({ db }: Scope<"db">): Promise<number> {
  const before = Date.now()
  const [row] = await db.execute<{ now: number }>(
    sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`,
  )
  return Math.round((before + Date.now()) / 2 - Number(row?.now))
}
