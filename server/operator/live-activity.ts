import { countDistinct } from "drizzle-orm"
import { livingProcesses } from "#db/process-lock.ts"
import { devices } from "#db/schema/devices.ts"
import { type ActivityReport, sumReports } from "#live/open"
import type { Scope } from "#server/scope.ts"

export interface LiveActivity extends ActivityReport {
  /** People with a live connection. */
  people: number
  /** The number of running processes. */
  processes: number
  /** The numbers of those that did not report; their figures are missing. */
  silent: number[]
}

/** The activity of each live query in all processes, now and in the last hour. */
export async function findLiveActivity(
  scope: Scope<"activityExchange" | "db" | "live" | "turns">,
): Promise<LiveActivity> {
  const { activityExchange, db, live, turns } = scope
  const [living, [connected]] = await Promise.all([
    db.execute<{ objid: string }>(livingProcesses),
    db.select({ people: countDistinct(devices.userId) }).from(devices),
  ])
  const others = living.map(({ objid }) => Number(objid)).filter((number) => number !== turns.process)
  const reports = await activityExchange.ask(others)
  return {
    ...sumReports([live.activity(), ...[...reports.values()].map(({ report }) => report)]),
    people: connected?.people ?? 0,
    processes: others.length + 1,
    silent: others.filter((number) => !reports.has(number)),
  }
}
