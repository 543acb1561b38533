import { sql } from "drizzle-orm"
import type { Scope } from "#server/scope.ts"
import { withinProbeTimeout } from "./probe-timeout.ts"
import { countEmails, LONG_WAIT } from "./queued.ts"

export interface Readiness {
  ready: boolean
  /** The state of each part: `ok`, or what is wrong. */
  checks: Record<"database" | "records" | "emails" | "model", string>
}

/**
 * Whether this process can serve: its database answers and its stream of records is current.
 * Problems that every process shares, such as an unreachable mail server, are reported but make
 * none of them unready, or no process would be left to serve.
 */
export async function checkReadiness(scope: Scope<"probe" | "live" | "replies">): Promise<Readiness> {
  const [database, emails] = await Promise.all([checkDatabase(scope), checkEmails(scope)])
  const records = scope.live.ready()
  return {
    ready: database === "ok" && (records.ready || records.everywhere),
    checks: {
      database,
      records: records.ready ? "ok" : records.problem.message,
      emails,
      model: describeModel(scope),
    },
  }
}

function describeModel({ replies }: Scope<"replies">): string {
  const trouble = replies.trouble.current()
  return trouble ? `${trouble.what.message} Since ${new Date(trouble.since).toISOString()}.` : "ok"
}

async function checkDatabase({ probe }: Scope<"probe">): Promise<string> {
  const answered = probe.execute(sql`select 1`).then(
    () => "ok",
    () => "does not answer",
  )
  return withinProbeTimeout(answered).catch((error: Error) => error.message)
}

async function checkEmails({ probe }: Scope<"probe">): Promise<string> {
  const emails = await withinProbeTimeout(countEmails({ db: probe })).catch(() => null)
  if (!emails) return "not known"
  const troubles = [
    ...(emails.oldestSeconds > LONG_WAIT ? [`${emails.queued} wait`] : []),
    ...(emails.parked > 0 ? [`${emails.parked} were given up`] : []),
  ]
  return troubles.join(", ") || "ok"
}
