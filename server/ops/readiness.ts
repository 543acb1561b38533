import { sql } from "drizzle-orm"
import type { Scope } from "../scope.ts"

export interface Readiness {
  ready: boolean
  /** What each part says of itself: `ok`, or what is wrong with it. */
  checks: Record<"database" | "records", string>
}

/** Milliseconds. A probe must be answered before it gives up by itself. */
const PATIENCE = 2000

/** Whether this process can serve: its database answers, and what it shows of the records is current. */
export async function checkReadiness(scope: Scope<"db" | "live">): Promise<Readiness> {
  const records = scope.live.ready()
  const checks = {
    database: await checkDatabase(scope),
    records: records.ready ? "ok" : (records.reason ?? "not ready"),
  }
  return { ready: Object.values(checks).every((check) => check === "ok"), checks }
}

async function checkDatabase({ db }: Scope<"db">): Promise<string> {
  const late = Promise.withResolvers<string>()
  const timer = setTimeout(() => late.resolve(`no answer within ${PATIENCE} ms`), PATIENCE)
  try {
    const answered = db.execute(sql`select 1`).then(
      () => "ok",
      () => "does not answer",
    )
    return await Promise.race([answered, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
