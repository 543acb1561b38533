import { setTimeout as delay } from "node:timers/promises"
import { and, eq, inArray, isNotNull } from "drizzle-orm"
import { openAdvisoryLocks } from "#db/advisory-locks.ts"
import { uploads } from "#db/schema/files.ts"
import { Gone, Locked, RequestTimeout, Unavailable, type Refusal } from "../errors.ts"
import { createFailureLog } from "../log.ts"
import type { Scope } from "../scope.ts"
import { nextExpiry, SPENT } from "./expiry.ts"
import type { UploadLock, UploadLocks } from "./upload-lock.ts"

/** Milliseconds. */
const LOOK = 500
/** After so long without bytes a request gives way to another, and after the longer time also to nobody. */
const STALLED = 1000
const ABANDONED = 60_000
/** How long another request is waited for, and how often. */
const PATIENCE = 3000
const AGAIN = 100

interface Held {
  stop(reason: Refusal): void
  idleSince: number
}

export function openUploadLocks(
  { db, log, config }: Scope<"db" | "log" | "config">,
  databaseUrl: string,
): UploadLocks {
  const held = new Map<string, Held>()
  const locks = openAdvisoryLocks(databaseUrl, () => {
    stopAll(
      new Unavailable(
        "The database was unavailable. Ask how much of the upload is stored, and resume from there.",
      ),
    )
  })
  const failures = createFailureLog(log, "uploads under way are looked after again")
  let looking: Promise<void> | null = null
  const timer = setInterval(() => {
    looking ??= look()
      .then(failures.succeeded, warn)
      .finally(() => (looking = null))
  }, LOOK)
  timer.unref()

  return {
    async take(id) {
      const wantedAt = Date.now()
      for (let isTold = false; Date.now() < wantedAt + PATIENCE; isTold = true) {
        const lock = await tryToTake(id)
        if (lock) return lock
        if (!isTold) await db.update(uploads).set({ wantedAt }).where(eq(uploads._id, id))
        await delay(AGAIN)
      }
      // Whoever holds it need not give way any more, unless somebody else came after this one.
      const mine = and(eq(uploads._id, id), eq(uploads.wantedAt, wantedAt))
      await db.update(uploads).set({ wantedAt: null }).where(mine)
      throw new Locked("Another request is writing to this upload. Try again in a moment.")
    },
    interrupt() {
      stopAll(new Unavailable("The server is shutting down. Try again in a moment to resume the upload."))
    },
    async close() {
      clearInterval(timer)
      await locks.close()
    },
  }

  async function tryToTake(id: string): Promise<UploadLock | null> {
    if (held.has(id)) return null
    const stopped = new AbortController()
    const mine: Held = { stop: (reason) => stopped.abort(reason), idleSince: Date.now() }
    held.set(id, mine)
    try {
      if (await locks.take(id)) return { signal: stopped.signal, moved, release }
      held.delete(id)
      return null
    } catch (error) {
      held.delete(id)
      throw error
    }

    function moved() {
      mine.idleSince = Date.now()
    }

    async function release() {
      // Also where the lock was lost, nobody else here had the upload until now.
      await locks.release(id).catch(warn)
      held.delete(id)
    }
  }

  /** Whether others want the uploads that this process holds. Only the database reaches all processes. */
  async function look() {
    if (held.size === 0) return
    const now = Date.now()
    const ids = [...held.keys()]
    const rows = await db
      .select({ id: uploads._id, wantedAt: uploads.wantedAt, expiresAt: uploads.expiresAt })
      .from(uploads)
      .where(inArray(uploads._id, ids))
    const known = new Map(rows.map((row) => [row.id, row]))
    for (const id of ids) {
      const row = known.get(id)
      const { stop, idleSince } = held.get(id) ?? { stop() {}, idleSince: now }
      if (!row) stop(new Gone("The upload was cancelled."))
      else if (row.wantedAt !== null && idleSince < now - STALLED)
        stop(new Locked("Another request took over this upload."))
      else if (idleSince < now - ABANDONED)
        stop(new RequestTimeout("No data arrived for a minute. What arrived before is stored."))
    }
    const expiresAt = nextExpiry(config, now)
    const late = rows.filter((row) => row.expiresAt < expiresAt - SPENT).map(({ id }) => id)
    if (late.length === 0) return
    await db
      .update(uploads)
      .set({ expiresAt })
      .where(and(inArray(uploads._id, late), isNotNull(uploads.key)))
  }

  function stopAll(reason: Refusal) {
    for (const { stop } of held.values()) stop(reason)
  }

  function warn(error: unknown) {
    failures.failed("warn", error, "uploads under way could not be looked after; the next look tries again")
  }
}
