import { sendInParts } from "./send-in-parts.ts"
import { outcomeOf, type Outcome } from "./upload-refusal.ts"

export interface Sending {
  /** Never rejects, and stays open after `stop` and `cancel`. */
  outcome: Promise<Outcome>
  /** What has arrived is kept, for a later sending to go on from. */
  stop(): void
  /** What has arrived is given up, and its room with it. */
  cancel(): void
}

export interface ToSend {
  file: File
  /** Where an earlier sending of the file began. */
  url: string | undefined
}

export interface Told {
  /** Bytes of the file that have left, counted from its beginning. */
  sent(bytes: number): void
  /** Where the sending can be continued, once the server has said so. */
  began(url: string): void
  /** Bytes that the server has, and will have after a power cut. */
  kept(bytes: number): void
}

/**
 * Bytes up to which a file goes as the body of one request. Sending it again costs less than the requests that would spare it, and
 * when it is interrupted the server gives its room back at once.
 */
const WHOLE_UP_TO = 2_000_000

export function sendFile(given: ToSend, told: Told): Sending {
  if (given.file.size > WHOLE_UP_TO || given.url !== undefined) return sendInParts(given, told)
  return sendWhole(given.file, told)
}

/** Straight from the disk. `fetch` could not say how much is sent. */
function sendWhole(file: File, told: Told): Sending {
  const request = new XMLHttpRequest()
  const { promise: outcome, resolve } = Promise.withResolvers<Outcome>()
  request.upload.addEventListener("progress", (event) => told.sent(event.loaded))
  request.addEventListener("load", () => {
    resolve(request.status === 201 ? { end: "stored" } : outcomeOf(request.status, request.responseText))
  })
  request.addEventListener("error", () => resolve({ end: "lost", status: 0 }))
  request.open("POST", `/api/files?name=${encodeURIComponent(file.name)}`)
  request.setRequestHeader("Content-Type", "application/octet-stream")
  request.send(file)
  const stop = () => request.abort()
  return { outcome, stop, cancel: stop }
}
