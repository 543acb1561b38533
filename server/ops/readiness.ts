import { sql } from "drizzle-orm"
import type { Scope } from "../scope.ts"
import { withinPatience } from "./patience.ts"

export interface Readiness {
  ready: boolean
  /** What each part says of itself: `ok`, or what is wrong with it. */
  checks: Record<"database" | "records", string>
}

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
  const answered = db.execute(sql`select 1`).then(
    () => "ok",
    () => "does not answer",
  )
  return withinPatience(answered).catch((error: Error) => error.message)
}
