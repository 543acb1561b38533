import { setTimeout as delay } from "node:timers/promises"
import { and, inArray, isNotNull, lt } from "drizzle-orm"
import { openAdvisoryLocks } from "#db/advisory-locks.ts"
import { uploads } from "#db/schema/files.ts"
import { Gone, Locked, RequestTimeout, Unavailable, type Refusal } from "#server/errors.ts"
import { createFailureLog } from "#server/log.ts"
import type { Scope } from "#server/scope.ts"
import { nextExpiry, SPENT } from "./expiry.ts"

/** Exclusive access of one request to an upload, across all processes. */
export interface UploadLock {
  /** Aborted, with a refusal as its reason, when the request should stop reading its body. */
  readonly signal: AbortSignal
  /** Records that bytes arrived. */
  touch(): void
  release(): Promise<void>
}

export interface UploadLocks {
  /**
   * Waits up to three seconds for another request, which yields if it receives no bytes: a sender
   * that lost its connection may be back before the server notices. Throws `Locked`.
   */
  take(id: string): Promise<UploadLock>
  /** Ends the request that holds the upload, in whichever process, because the upload is gone. */
  cancel(id: string): Promise<void>
  /** Handlers for announcements of other processes. */
  readonly announcements: Readonly<Record<string, (text: string) => void>>
  /**
   * Ends every request of this process that is receiving bytes; it can be resumed in another
   * process.
   */
  interrupt(): void
  close(): Promise<void>
}

declare module "#server/scope.ts" {
  interface Services {
    uploadLocks: UploadLocks
  }
}

/**
 * Announced by a request that waits for an upload. The text is the upload's id and the request's
 * own.
 */
const WANTED = "files.uploadWanted"
/** Announced when an upload is cancelled. The text is the upload's id. */
const CANCELLED = "files.uploadCancelled"

/** Milliseconds between renewals of the uploads that this process is receiving. */
const RENEWAL_INTERVAL = 15_000
/** Milliseconds without bytes after which a request yields to another, and ends by itself. */
const STALLED = 1000
const ABANDONED = 60_000
/** Milliseconds to wait for another request, and between attempts. */
const WAIT = 3000
const RETRY_INTERVAL = 100

interface Held {
  /** The request that holds the upload. */
  requestId: string
  stop(reason: Refusal): void
  idleSince: number
  /** Checks again whether the request has stalled, while another one waits. */
  recheck?: ReturnType<typeof setTimeout>
}

export function openUploadLocks(
  { announce, db, log, config }: Scope<"announce" | "db" | "log" | "config">,
  databaseUrl: string,
): UploadLocks {
  const held = new Map<string, Held>()
  const locks = openAdvisoryLocks(databaseUrl, () => {
    stopAll(new Unavailable("upload-without-database"))
  })
  const failures = createFailureLog(log, "uploads in progress can be renewed again")
  const timer = setInterval(() => void renew().then(failures.succeeded, warn), RENEWAL_INTERVAL)
  timer.unref()

  return {
    async take(id) {
      const requestId = crypto.randomUUID()
      const deadline = Date.now() + WAIT
      for (let isAnnounced = false; Date.now() < deadline; isAnnounced = true) {
        const lock = await tryToTake(id, requestId)
        if (lock) return lock
        if (!isAnnounced) {
          giveWay(id, requestId)
          await announce(db, WANTED, `${id} ${requestId}`)
        }
        await delay(RETRY_INTERVAL)
      }
      throw new Locked("upload-locked")
    },
    async cancel(id) {
      stopCancelled(id)
      await announce(db, CANCELLED, id)
    },
    announcements: {
      [WANTED](text) {
        const [id = "", requestId = ""] = text.split(" ")
        giveWay(id, requestId)
      },
      [CANCELLED]: stopCancelled,
    },
    interrupt() {
      stopAll(new Unavailable("upload-while-stopping"))
    },
    async close() {
      clearInterval(timer)
      await locks.close()
    },
  }

  async function tryToTake(id: string, requestId: string): Promise<UploadLock | null> {
    if (held.has(id)) return null
    const stopped = new AbortController()
    const mine: Held = { requestId, stop: (reason) => stopped.abort(reason), idleSince: Date.now() }
    held.set(id, mine)
    try {
      if (await locks.take(id)) return { signal: stopped.signal, touch, release }
      held.delete(id)
      return null
    } catch (error) {
      held.delete(id)
      throw error
    }

    function touch() {
      mine.idleSince = Date.now()
    }

    async function release() {
      clearTimeout(mine.recheck)
      // Even if the lock was lost, no other request of this process had the upload until now.
      await locks.release(id).catch(warn)
      held.delete(id)
    }
  }

  /** Ends the request that holds the upload once it stalls, as long as the other one waits. */
  function giveWay(id: string, requestId: string) {
    const holder = held.get(id)
    if (!holder || holder.requestId === requestId) return
    const until = Date.now() + WAIT
    const check = () => {
      const left = holder.idleSince + STALLED - Date.now()
      if (left <= 0) holder.stop(new Locked("upload-taken-over"))
      else if (Date.now() + left < until) holder.recheck = setTimeout(check, left)
    }
    clearTimeout(holder.recheck)
    check()
  }

  function stopCancelled(id: string) {
    held.get(id)?.stop(new Gone("upload-cancelled"))
  }

  /**
   * Extends the expiry of held uploads; ends those that are abandoned or were removed without an
   * announcement.
   */
  async function renew() {
    if (held.size === 0) return
    const now = Date.now()
    const ids = [...held.keys()]
    for (const { stop, idleSince } of held.values()) {
      if (idleSince < now - ABANDONED) stop(new RequestTimeout("upload-stalled"))
    }
    const isHeld = inArray(uploads._id, ids)
    const rows = await db.select({ id: uploads._id }).from(uploads).where(isHeld)
    const known = new Set(rows.map(({ id }) => id))
    for (const id of ids) if (!known.has(id)) stopCancelled(id)
    const expiresAt = nextExpiry(config, now)
    await db
      .update(uploads)
      .set({ expiresAt })
      .where(and(isHeld, isNotNull(uploads.key), lt(uploads.expiresAt, expiresAt - SPENT)))
  }

  function stopAll(reason: Refusal) {
    for (const { stop } of held.values()) stop(reason)
  }

  function warn(error: unknown) {
    failures.failed("warn", error, "could not renew uploads in progress; will try again")
  }
}
