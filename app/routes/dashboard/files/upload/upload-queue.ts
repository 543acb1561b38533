import { msg } from "@lingui/core/macro"
import { i18nOfDocument } from "#app/language/i18n.ts"
import { askForFile, findFile } from "./file-handle.ts"
import { createQueuePicture } from "./queue-snapshot.ts"
import { sendFile } from "./send-file.ts"
import { discard } from "./send-in-parts.ts"
import {
  canRead,
  createEntry,
  isGoing,
  move,
  rest,
  wake,
  whyNot,
  type Entry,
  type Given,
} from "./queue-entry.ts"
import { openUnfinishedUploads, type Unfinished } from "./unfinished-uploads.ts"
import type { Chosen, UploadLimits, UploadState } from "./upload.ts"
import type { Outcome } from "./upload-outcome.ts"

const AT_ONCE = 3

/** Milliseconds before the next attempt, unless the `online` event comes first. */
const AGAIN_AFTER = [1000, 2000, 4000, 8000, 15_000, 30_000]

/** A server that has failed in the same way this often will keep failing. */
const MOST_FAILURES = 4

/**
 * Sends files a few at a time. It belongs to no page: uploads continue while the user visits other
 * pages of the dashboard.
 */
export const uploadQueue = createUploadQueue()

function createUploadQueue() {
  const page = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`
  const unfinished = openUnfinishedUploads(page)
  const entries = new Map<string, Entry>()
  const { announce, announceSoon, count, subscribe, snapshot } = createQueuePicture(entries)
  let userId: string | undefined
  let lastId = 0

  // Actions of the user.

  /** `spaceId`: where the files go; what is personal without it. */
  function add(chosen: readonly Chosen[], limits: UploadLimits, spaceId?: string) {
    unfinished.hold()
    const added = chosen.filter(({ file }) => !giveBack(file)).map((one) => enter(one, limits, spaceId))
    void unfinished.keep(added.filter(({ status }) => status.state === "waiting").map(recordOf))
    proceed()
  }

  /** Whether an earlier upload was missing this file. */
  function giveBack(file: File): boolean {
    const waiting = [...entries.values()].find(
      ({ status, name, size, lastModified }) =>
        status.state === "missing" &&
        name === file.name &&
        size === file.size &&
        lastModified === file.lastModified,
    )
    if (!waiting) return false
    waiting.file = file
    move(waiting, { state: "waiting" })
    return true
  }

  function enter({ file, handle }: Chosen, limits: UploadLimits, spaceId: string | undefined): Entry {
    const { name, size, lastModified } = file
    const reason = whyNot(file, limits)
    const known = { name, size, lastModified, spaceId, handle, file }
    const given = { ...known, since: Date.now(), url: undefined, kept: 0 }
    return place(`${page}-${++lastId}`, given, reason ? { state: "failed", reason } : { state: "waiting" })
  }

  function pause(id: string) {
    const entry = entries.get(id)
    if (entry && isGoing(entry)) rest(entry, { state: "paused" })
    proceed()
  }

  function pauseAll() {
    stopAll({ state: "paused" })
    announce()
  }

  function resume(id: string) {
    const entry = entries.get(id)
    if (entry && (entry.status.state === "paused" || entry.status.state === "failed")) wake(entry)
    proceed()
  }

  function resumeAll() {
    for (const entry of entries.values()) if (entry.status.state === "paused") wake(entry)
    proceed()
  }

  /** Needs a user gesture: the browser may ask for permission. */
  async function reopen() {
    for (const entry of entries.values()) {
      if (entry.status.state !== "missing" || !entry.handle) continue
      const file = await askForFile(entry.handle, entry)
      if (!file) {
        move(entry, { state: "missing", mayAsk: false })
        continue
      }
      entry.file = file
      wake(entry)
    }
    proceed()
  }

  /** Discards uploads that have not ended, and removes the others from the list. */
  function remove(ids: readonly string[]) {
    for (const id of ids) {
      const entry = entries.get(id)
      if (!entry) continue
      entries.delete(id)
      clearTimeout(entry.again)
      if (entry.sending) entry.sending.cancel()
      else if (entry.url && entry.status.state !== "done") void giveUp(recordOf(entry))
    }
    void unfinished.forget(ids)
    proceed()
  }

  async function giveUp(record: Unfinished) {
    if (await discard(record.url)) return void unfinished.forget([record.id])
    void unfinished.keep([{ ...record, isDiscarded: true }])
  }

  function forgetDone() {
    const done = [...entries.values()].filter(({ status }) => status.state === "done")
    remove(done.map(({ id }) => id))
  }

  /**
   * Resumes what earlier pages of this browser left. Uploads whose file cannot be reopened wait for
   * the user.
   */
  async function continueFor(user: string) {
    if (userId === user) return
    userId = user
    for (const record of await unfinished.takeOver(user)) {
      if (record.isDiscarded) {
        void giveUp(record)
        continue
      }
      unfinished.hold()
      const { handle, spaceId } = record
      const file = handle && (await findFile(handle, record))
      const status: UploadState = file
        ? { state: "waiting" }
        : { state: "missing", mayAsk: handle !== undefined }
      place(record.id, { ...record, spaceId, handle, file, url: record.url }, status)
    }
    proceed()
  }

  // Internals of the queue.

  function place(id: string, given: Given, status: UploadState): Entry {
    const entry = createEntry(id, given, status)
    entries.set(id, entry)
    return entry
  }

  function proceed() {
    sendNext()
    announce()
  }

  function sendNext() {
    if (!navigator.onLine) return
    let sending = 0
    for (const entry of entries.values()) if (entry.status.state === "sending") sending++
    for (const entry of entries.values()) {
      if (sending >= AT_ONCE) return
      if (entry.status.state !== "waiting" || !entry.file) continue
      sending++
      void send(entry, entry.file)
    }
  }

  async function send(entry: Entry, file: File) {
    move(entry, { state: "sending" })
    const isReadable = await canRead(file)
    if (entry.status.state !== "sending" || entries.get(entry.id) !== entry) return
    if (!isReadable) {
      const gone = msg`The file was changed or removed on this device. Choose it again.`
      move(entry, { state: "failed", reason: i18nOfDocument()._(gone) })
      proceed()
      return
    }
    let isCounting = false
    const sending = sendFile(
      { file, id: entry.id, url: entry.url, spaceId: entry.spaceId },
      {
        sent(bytes) {
          if (entry.sending !== sending) return
          // The first figure is what an earlier attempt had already sent.
          if (isCounting) count(entry, bytes - entry.sent)
          isCounting = true
          entry.sent = bytes
          entry.shown = undefined
          announceSoon()
        },
        began(url) {
          entry.url = url
          if (entries.get(entry.id) === entry) void unfinished.keep([recordOf(entry)])
        },
        kept(bytes) {
          entry.kept = bytes
          entry.attempts = 0
          if (entries.get(entry.id) === entry) void unfinished.keep([recordOf(entry)])
        },
      },
    )
    entry.sending = sending
    const outcome = await sending.outcome
    // It was paused or cancelled in the meantime, and perhaps started again.
    if (entry.sending !== sending) return
    entry.sending = undefined
    settle(entry, outcome)
    proceed()
  }

  function settle(entry: Entry, outcome: Outcome) {
    switch (outcome.end) {
      case "stored":
        entry.sent = entry.size
        move(entry, { state: "done" })
        void unfinished.forget([entry.id])
        break
      case "refused":
        move(entry, { state: "failed", reason: outcome.reason })
        // Nobody is signed in: everything in the queue would be refused, one after the other.
        if (outcome.status === 401) stopAll({ state: "failed", reason: outcome.reason })
        break
      case "gone":
        Object.assign(entry, { url: undefined, kept: 0, sent: 0 })
        move(entry, { state: "waiting" })
        break
      case "lost":
        hold(entry, outcome.status)
        break
    }
  }

  function stopAll(status: UploadState) {
    for (const entry of entries.values()) if (isGoing(entry)) rest(entry, status)
  }

  function hold(entry: Entry, status: number) {
    const attempt = entry.attempts++
    if (status === 500 && attempt >= MOST_FAILURES) {
      const unable = msg`The server could not store it (500). Try again later.`
      move(entry, { state: "failed", reason: i18nOfDocument()._(unable) })
      return
    }
    rest(entry, { state: "held", isOffline: !navigator.onLine })
    const wait = AGAIN_AFTER[Math.min(attempt, AGAIN_AFTER.length - 1)] ?? 0
    entry.again = setTimeout(() => {
      if (!navigator.onLine) return
      wake(entry)
      proceed()
    }, wait)
  }

  /** The browser knows before any request fails. */
  function goneOffline() {
    for (const entry of entries.values())
      if (entry.status.state === "sending" || entry.status.state === "held")
        rest(entry, { state: "held", isOffline: true })
    announce()
  }

  function backOnline() {
    for (const entry of entries.values()) {
      if (entry.status.state !== "held") continue
      entry.attempts = 0
      wake(entry)
    }
    proceed()
  }

  function recordOf({ id, name, size, lastModified, spaceId, since, kept, url, handle }: Entry): Unfinished {
    return { id, userId: userId ?? "", page, name, size, lastModified, spaceId, since, kept, url, handle }
  }

  return {
    add,
    pause,
    pauseAll,
    resume,
    resumeAll,
    reopen,
    remove,
    forgetDone,
    continueFor,
    goneOffline,
    backOnline,
    subscribe,
    snapshot,
  }
}
