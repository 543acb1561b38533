import { sendInParts } from "./send-in-parts.ts"
import type { Sending, Told, ToSend } from "./sending.ts"
import { outcomeOf, type Outcome } from "./upload-outcome.ts"

/**
 * Bytes up to which a file goes as the body of one request. Sending it again costs less than the
 * requests that would spare it, and when it is interrupted the server gives its room back at once.
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
