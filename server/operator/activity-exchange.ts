import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import * as v from "valibot"
import type { Database } from "#db/client.ts"
import type { Log } from "#server/log.ts"
import { ActivityReport, type Announcements } from "#live/open"
import { StreamPlace } from "./stream-place.ts"

const ASKED = "live-activity.asked"
const REPORTED = "live-activity.reported"

/** Milliseconds that the other processes have to report. */
const REPORTING = 1_000

/** Asks the other processes what they do, through the log, and answers them. */
export interface ActivityExchange {
  announcements(report: () => ProcessReport): Announcements
  /** Resolves when all of these processes have reported, or after a second. */
  ask(processes: readonly number[]): Promise<ReadonlyMap<number, ProcessReport>>
}

declare module "#server/scope.ts" {
  interface Services {
    activityExchange: ActivityExchange
  }
}

export interface ProcessReport {
  report: ActivityReport
  /** The previous version does not have it. */
  stream?: StreamPlace | undefined
}

interface ExchangeOptions {
  /** The number of this process. */
  process: number
  db: Database
  log: Log
  announce(db: Database, topic: string, text: string): Promise<void>
}

export function openActivityExchange({ announce, db, log, process }: ExchangeOptions): ActivityExchange {
  const questions = new Map<string, (from: number, report: ProcessReport) => void>()
  return {
    announcements: (report) => ({
      [ASKED](id) {
        if (questions.has(id)) return
        announce(db, REPORTED, JSON.stringify({ id, process, ...report() })).catch((error: unknown) =>
          log.warn({ err: error }, "could not report to another process"),
        )
      },
      [REPORTED](text) {
        const { id, process: from, ...told } = v.parse(Reported, JSON.parse(text))
        questions.get(id)?.(from, told)
      },
    }),
    async ask(processes) {
      const reports = new Map<number, ProcessReport>()
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

const Reported = v.object({
  id: v.string(),
  process: v.number(),
  report: ActivityReport,
  stream: v.optional(StreamPlace),
})
