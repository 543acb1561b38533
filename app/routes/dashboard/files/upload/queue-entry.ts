import { msg } from "@lingui/core/macro"
import { formatsOf } from "#app/language/formats.ts"
import { i18nOfDocument } from "#app/language/i18n.ts"
import type { Sending } from "./sending.ts"
import { createTransferRate, type TransferRate } from "./transfer-rate.ts"
import type { Upload, UploadLimits, UploadState } from "./upload.ts"

/** The queue's state of one upload. */
export interface Entry {
  readonly id: string
  readonly name: string
  readonly size: number
  readonly lastModified: number
  readonly spaceId: string | undefined
  readonly since: number
  file: File | undefined
  readonly handle: FileSystemFileHandle | undefined
  url: string | undefined
  sent: number
  kept: number
  status: UploadState
  sending: Sending | undefined
  attempts: number
  again: ReturnType<typeof setTimeout> | undefined
  readonly rate: TransferRate
  /** What `show` returned, until something changes. */
  shown: Upload | undefined
}

export type Given = Pick<
  Entry,
  "name" | "size" | "lastModified" | "spaceId" | "since" | "handle" | "file" | "url" | "kept"
>

export function createEntry(id: string, given: Given, status: UploadState): Entry {
  const begun = { sent: given.kept, sending: undefined, attempts: 0, again: undefined, shown: undefined }
  return { ...given, ...begun, id, status, rate: createTransferRate() }
}

export function move(entry: Entry, status: UploadState) {
  entry.status = status
  entry.shown = undefined
}

/** Puts it back into the queue. */
export function wake(entry: Entry) {
  clearTimeout(entry.again)
  entry.rate.restart()
  move(entry, { state: "waiting" })
}

/** Stops sending; the server keeps what has arrived. */
export function rest(entry: Entry, status: UploadState) {
  clearTimeout(entry.again)
  entry.sending?.stop()
  entry.sending = undefined
  move(entry, status)
}

/** The upload as it is shown to the user. */
export function show({ id, name, size, sent, status, rate }: Entry, now: number): Upload {
  const known = { id, name, size, sent: Math.min(sent, size) }
  return { ...known, rate: status.state === "sending" ? rate.perSecond(now) : null, ...status }
}

/** Waiting, sending, or held until the connection is back. */
export function isGoing({ status: { state } }: Entry): boolean {
  return state === "waiting" || state === "sending" || state === "held"
}

/** Why it is refused without a request. */
export function whyNot({ size }: File, { maxSize, freeSpace }: UploadLimits): string | null {
  const i18n = i18nOfDocument()
  const formats = formatsOf(i18n)
  if (size > maxSize) {
    const largest = formats.bytes(maxSize)
    return i18n._(msg`It's too large. The largest file allowed is ${largest}.`)
  }
  if (size <= freeSpace) return null
  const left = formats.bytes(Math.max(freeSpace, 0))
  return i18n._(msg`There isn't enough space: ${left} left. Empty the trash or delete files, then try again.`)
}

/**
 * A file that has changed since it was chosen cannot be read, and its request would fail like a
 * lost connection.
 */
export async function canRead(file: File): Promise<boolean> {
  try {
    await file.slice(0, 1).arrayBuffer()
    return true
  } catch {
    return false
  }
}
