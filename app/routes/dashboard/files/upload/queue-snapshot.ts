import { show, type Entry } from "./queue-entry.ts"
import { createTransferRate } from "./transfer-rate.ts"
import type { Uploads } from "./upload.ts"

/** Milliseconds between two snapshots while bytes are being sent. */
const PICTURE_EVERY = 200

/** One shared object, so that hydration does not render a page without uploads again. */
export const NO_UPLOADS: Uploads = { list: [], rate: null }

/**
 * The store that components subscribe to: a snapshot of the entries that stays the same until
 * `announce` is called.
 */
export function createQueuePicture(entries: ReadonlyMap<string, Entry>) {
  const listeners = new Set<() => void>()
  const total = createTransferRate()
  let snapshot = NO_UPLOADS
  let picturing: ReturnType<typeof setTimeout> | undefined
  let looking: ReturnType<typeof setTimeout> | undefined

  function announce() {
    clearTimeout(picturing)
    picturing = undefined
    if (entries.size === 0 && snapshot === NO_UPLOADS) return
    const now = Date.now()
    const list = [...entries.values()].map((entry) => {
      // The rate also changes while no events arrive.
      if (entry.status.state === "sending") entry.shown = undefined
      return (entry.shown ??= show(entry, now))
    })
    const isSending = list.some(({ state }) => state === "sending")
    if (!isSending) total.restart()
    snapshot = list.length === 0 ? NO_UPLOADS : { list, rate: isSending ? total.perSecond(now) : null }
    for (const listener of listeners) listener()
    // No event reports a stalled upload, so look again.
    clearTimeout(looking)
    if (isSending) looking = setTimeout(announce, 1000)
  }

  return {
    announce,
    announceSoon() {
      picturing ??= setTimeout(announce, PICTURE_EVERY)
    },
    /** Counts bytes of an entry that have just been sent. */
    count(entry: Entry, bytes: number) {
      if (bytes <= 0) return
      const now = Date.now()
      entry.rate.add(bytes, now)
      total.add(bytes, now)
    },
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    snapshot: () => snapshot,
  }
}
