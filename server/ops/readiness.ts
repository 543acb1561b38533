import { sql } from "drizzle-orm"
import type { Scope } from "../scope.ts"
import { withinPatience } from "./patience.ts"
import { countLetters } from "./queued.ts"

export interface Readiness {
  ready: boolean
  /** What each part says of itself: `ok`, or what is wrong with it. */
  checks: Record<"database" | "records" | "letters" | "model", string>
}

/** A letter that waits for longer than this has failed several times. Seconds. */
const LONG_WAIT = 15 * 60

/**
 * Whether this process can serve: its database answers, and its stream of the records is current. What every process would say alike, such
 * as that the mail server is away, is said here and makes none of them unready: then nobody would be left to serve the rest.
 */
export async function checkReadiness(scope: Scope<"probe" | "live" | "modelTrouble">): Promise<Readiness> {
  const [database, letters] = await Promise.all([checkDatabase(scope), checkLetters(scope)])
  const records = scope.live.ready()
  return {
    ready: database === "ok" && (records.ready || records.everywhere),
    checks: {
      database,
      records: records.ready ? "ok" : records.reason,
      letters,
      model: describeModel(scope),
    },
  }
}

function describeModel({ modelTrouble }: Scope<"modelTrouble">): string {
  const trouble = modelTrouble.current()
  return trouble ? `${trouble.what} Since ${new Date(trouble.since).toISOString()}.` : "ok"
}

async function checkDatabase({ probe }: Scope<"probe">): Promise<string> {
  const answered = probe.execute(sql`select 1`).then(
    () => "ok",
    () => "does not answer",
  )
  return withinPatience(answered).catch((error: Error) => error.message)
}

async function checkLetters({ probe }: Scope<"probe">): Promise<string> {
  const letters = await withinPatience(countLetters({ db: probe })).catch(() => null)
  if (!letters) return "not known"
  const troubles = [
    ...(letters.oldestSeconds > LONG_WAIT ? [`${letters.queued} wait`] : []),
    ...(letters.parked > 0 ? [`${letters.parked} were given up`] : []),
  ]
  return troubles.join(", ") || "ok"
}
