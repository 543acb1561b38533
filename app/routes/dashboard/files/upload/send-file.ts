import { href } from "react-router"
import { sendInParts } from "./send-in-parts.ts"
import type { Sending, UploadCallbacks, ToSend } from "./sending.ts"
import { outcomeOf, type Outcome } from "./upload-outcome.ts"

/**
 * Bytes up to which a file is sent as the body of one request. Sending it again costs less than the
 * requests of a resumable upload, and the server frees its space as soon as it is interrupted.
 */
const WHOLE_UP_TO = 2_000_000

export function sendFile(given: ToSend, told: UploadCallbacks): Sending {
  if (given.file.size > WHOLE_UP_TO || given.url !== undefined) return sendInParts(given, told)
  return sendWhole(given, told)
}

/** Sent straight from the disk. Uses XMLHttpRequest, because `fetch` reports no upload progress. */
function sendWhole({ file, id, spaceId }: ToSend, told: UploadCallbacks): Sending {
  const request = new XMLHttpRequest()
  const { promise: outcome, resolve } = Promise.withResolvers<Outcome>()
  request.upload.addEventListener("progress", (event) => told.sent(event.loaded))
  request.addEventListener("load", () => {
    resolve(request.status === 201 ? { end: "stored" } : outcomeOf(request.status, request.responseText))
  })
  request.addEventListener("error", () => resolve({ end: "lost", status: 0 }))
  const place = spaceId === undefined ? "" : `&spaceId=${spaceId}`
  request.open(
    "POST",
    `${href("/api/files")}?name=${encodeURIComponent(file.name)}&lastModified=${file.lastModified}${place}`,
  )
  request.setRequestHeader("Content-Type", "application/octet-stream")
  request.setRequestHeader("Idempotency-Key", id)
  request.send(file)
  const stop = () => request.abort()
  return { outcome, stop, cancel: stop }
}
