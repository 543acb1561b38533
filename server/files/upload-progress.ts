import { randomBytes } from "node:crypto"
import type { Log } from "#server/log.ts"
import type { Realtime } from "#live/open"
import { fileUploadsChannel, UPLOAD_SAID_EVERY, type Uploading } from "./upload-progress-contract.ts"

/**
 * Milliseconds for which an upload between two requests is shown as it was. Shorter than what those
 * who look wait, because the next request may go to another process.
 */
const BETWEEN_REQUESTS = 3000

interface OngoingUpload extends Pick<Uploading, "fileName" | "size"> {
  _id: string
  userId: string
  /** Null for a personal file, about which nothing is said. */
  spaceId: string | null
}

/** One request that brings bytes of an upload. */
export interface Receiving {
  /** Bytes have arrived. */
  add(bytes: number): void
  /** The request has ended. `paused`: another one may bring the rest. */
  end(how: "over" | "paused"): void
}

/**
 * Reports upload progress to members who have the space's files open: the bytes that this process has
 * received.
 */
export interface UploadProgress {
  /** `received`: bytes of earlier requests. Null for a personal file. */
  follow(upload: OngoingUpload, received: number): Receiving | null
  /** The upload was cancelled. */
  forget(uploadId: string): void
  close(): void
}

declare module "#server/scope.ts" {
  interface Services {
    uploadProgress: UploadProgress
  }
}

interface Ongoing extends OngoingUpload {
  /** The name under which the channel knows it. */
  from: string
  received: number
  /** When its last request ended; null while one brings bytes. */
  pausedAt: number | null
  wasHeard: boolean
}

export function openUploadProgress({
  live,
  log,
}: {
  live: Pick<Realtime<never>, "sendToMembers">
  log: Pick<Log, "warn">
}): UploadProgress {
  const ongoing = new Map<string, Ongoing>()
  let timer: NodeJS.Timeout | undefined

  function say(upload: Ongoing, isOver: boolean): boolean {
    const { _id: uploadId, userId, spaceId, fileName, size, received, from } = upload
    const message: Uploading = { uploadId, userId, fileName, size, received, isOver }
    try {
      return live.sendToMembers({ name: fileUploadsChannel.name, args: { spaceId }, from }, message)
    } catch (error) {
      // No upload fails because nobody can be told of it.
      log.warn({ err: error, upload: uploadId }, "could not tell of an upload")
      return false
    }
  }

  function sayAll() {
    const now = performance.now()
    for (const [id, upload] of ongoing) {
      if (upload.pausedAt !== null && now - upload.pausedAt > BETWEEN_REQUESTS) ongoing.delete(id)
      else upload.wasHeard = say(upload, false) || upload.wasHeard
    }
    if (ongoing.size === 0) stop()
  }

  function stop() {
    clearInterval(timer)
    timer = undefined
  }

  function forget(id: string) {
    const upload = ongoing.get(id)
    if (!upload) return
    ongoing.delete(id)
    if (upload.wasHeard) say(upload, true)
    if (ongoing.size === 0) stop()
  }

  return {
    follow(upload, received) {
      if (upload.spaceId === null) return null
      const { from, wasHeard } = ongoing.get(upload._id) ?? {
        from: randomBytes(9).toString("base64url"),
        wasHeard: false,
      }
      const entry: Ongoing = { ...upload, from, wasHeard, received, pausedAt: null }
      ongoing.set(upload._id, entry)
      timer ??= setInterval(sayAll, UPLOAD_SAID_EVERY).unref()
      return {
        add(bytes) {
          entry.received += bytes
        },
        end(how) {
          // Another request has taken the upload over.
          if (ongoing.get(upload._id) !== entry) return
          if (how === "over") forget(upload._id)
          else entry.pausedAt = performance.now()
        },
      }
    },
    forget,
    close: stop,
  }
}
