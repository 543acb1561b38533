import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { countDistinct } from "drizzle-orm"
import * as v from "valibot"
import { livingProcesses } from "#db/process-lock.ts"
import { devices } from "#db/schema/devices.ts"
import { ActivityReport, sumReports } from "#server/realtime/activity.ts"
import type { Announcements } from "#server/realtime/announce.ts"
import type { Scope } from "#server/scope.ts"

const ASKED = "live-activity.asked"
const REPORTED = "live-activity.reported"

/** Milliseconds that the other processes have to report. */
const REPORTING = 1_000

export interface LiveActivity extends ActivityReport {
  /** People with a live connection. */
  people: number
  /** The number of running processes. */
  processes: number
  /** The numbers of those that did not report; their figures are missing. */
  silent: number[]
}

/** Asks the other processes what they do, through the log, and answers them. */
export interface ActivityExchange {
  announcements(report: () => ActivityReport): Announcements
  /** Resolves when all of these processes have reported, or after a second. */
  ask(processes: readonly number[]): Promise<ReadonlyMap<number, ActivityReport>>
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
    ...sumReports([live.activity(), ...reports.values()]),
    people: connected?.people ?? 0,
    processes: others.length + 1,
    silent: others.filter((number) => !reports.has(number)),
  }
}

export function openActivityExchange(
  { announce, db, log }: Scope<"announce" | "db" | "log">,
  process: number,
): ActivityExchange {
  const questions = new Map<string, (from: number, report: ActivityReport) => void>()
  return {
    announcements: (report) => ({
      [ASKED](id) {
        if (questions.has(id)) return
        announce(db, REPORTED, JSON.stringify({ id, process, report: report() })).catch((error: unknown) =>
          log.warn({ err: error }, "could not report to another process"),
        )
      },
      [REPORTED](text) {
        const { id, process: from, report: told } = v.parse(Reported, JSON.parse(text))
        questions.get(id)?.(from, told)
      },
    }),
    async ask(processes) {
      const reports = new Map<number, ActivityReport>()
      if (processes.length === 0) return reports
      const id = randomUUID()
      const complete = Promise.withResolvers<void>()
      questions.set(id, (from, report) => {
        reports.set(from, report)
        if (processes.every((each) => reports.has(each))) complete.resolve()
      })
      try {
        await announce(db, ASKED, id)
        await Promise.race([complete.promise, sleep(REPORTING)])
      } finally {
        questions.delete(id)
      }
      return reports
    },
  }
}

const Reported = v.object({ id: v.string(), process: v.number(), report: ActivityReport })
