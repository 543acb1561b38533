import { inArray, sql } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { livingProcesses, type ProcessLock } from "#db/process-lock.ts"
import { devices } from "#db/schema/devices.ts"
import { createFailureLog } from "#server/log.ts"
import type { Scope } from "#server/scope.ts"

/** A live connection, as its user sees it. */
export interface Device {
  connectionId: string
  /** The id of the user's record. */
  userId: string
  label: string
}

/**
 * Milliseconds. When many clients reconnect at the same time, they are written in a few statements.
 */
const GATHERING = 100
const SWEEP = 30_000

/**
 * Keeps the table of connected devices current for this process, and removes the rows of ended
 * processes. The rows reach every page of their user like any others.
 */
export async function openDevices({ db, log }: Scope<"db" | "log">, lock: ProcessLock) {
  const failures = createFailureLog(log, "connected devices can be recorded again")
  const connected = new Map<string, Device>()
  const written = new Set<string>()
  let writing = Promise.resolve()
  let timer: ReturnType<typeof setTimeout> | undefined

  lock.onRegained(() => {
    // Other processes removed this process's rows while its lock was free.
    written.clear()
    schedule()
  })
  const sweeper = setInterval(() => void sweep(), SWEEP)
  sweeper.unref()
  await sweep()

  function schedule() {
    timer ??= setTimeout(() => {
      timer = undefined
      writing = writing.then(write)
    }, GATHERING)
  }

  async function write() {
    const come = [...connected.values()].filter(({ connectionId }) => !written.has(connectionId))
    const gone = [...written].filter((connectionId) => !connected.has(connectionId))
    try {
      if (come.length > 0) {
        await db
          .insert(devices)
          .values(come.map((device) => ({ ...device, process: lock.number })))
          .onConflictDoNothing()
        for (const { connectionId } of come) written.add(connectionId)
      }
      if (gone.length > 0) {
        await db.delete(devices).where(inArray(devices.connectionId, gone))
        for (const connectionId of gone) written.delete(connectionId)
      }
    } catch (error) {
      failures.failed("warn", error, "could not record connected devices; the next sweep will try again")
    }
  }

  async function sweep() {
    schedule()
    await sweepDeadProcesses(db).then(failures.succeeded, (error: unknown) => {
      failures.failed(
        "warn",
        error,
        "could not remove the devices of ended processes; the next sweep will try again",
      )
    })
  }

  return {
    opened(device: Device) {
      connected.set(device.connectionId, device)
      schedule()
    },
    closed(connectionId: string) {
      if (connected.delete(connectionId)) schedule()
    },
    async close() {
      clearInterval(sweeper)
      clearTimeout(timer)
      connected.clear()
      await writing.then(write)
    },
  }
}

async function sweepDeadProcesses(db: Database) {
  await db.delete(devices).where(sql`${devices.process} not in (${livingProcesses})`)
}
