import { href } from "react-router"
import { Upload, type DetailedError } from "tus-js-client"
import type { Sending, UploadCallbacks, ToSend } from "./sending.ts"
import { outcomeOf, type Outcome } from "./upload-outcome.ts"

const ENDPOINT = href("/api/files/uploads")

/**
 * Bytes per request: as much as proxies accept. Each request is answered only when its bytes are on
 * the server's disk, so many small ones take longer.
 */
const PART = 16 * 1024 * 1024

/**
 * Milliseconds between attempts to discard an upload: the aborted request may keep it locked for a
 * moment.
 */
const DISCARD_AFTER = [100, 300, 600, 1000, 2000, 4000]

/** Sends by tus 1.0. */
export function startUpload({ file, id, url, spaceId }: ToSend, told: UploadCallbacks): Sending {
  const { promise: outcome, resolve } = Promise.withResolvers<Outcome>()
  const endpoint = absolute(spaceId === undefined ? ENDPOINT : `${ENDPOINT}?spaceId=${spaceId}`)
  let isCancelled = false
  const upload = new Upload(file, {
    // With both, the library would start over whenever the server failed to respond for a moment.
    ...(url ? { uploadUrl: absolute(url) } : { endpoint }),
    metadata: { filename: file.name, lastModified: String(file.lastModified) },
    // Also with the parts, where it means nothing.
    headers: { "Idempotency-Key": id },
    chunkSize: PART,
    // The queue decides when to try again, and stores the URLs.
    retryDelays: null,
    storeFingerprintForResuming: false,
    onUploadUrlAvailable() {
      if (isCancelled) void upload.abort().then(() => terminate(upload.url))
      else if (upload.url) told.began(pathOf(upload.url))
    },
    onProgress: (sent) => told.sent(sent),
    onChunkComplete: (_part, accepted) => told.kept(accepted),
    onSuccess: () => resolve({ end: "stored" }),
    onError: (error) => resolve(isGone(error) ? { end: "gone" } : outcomeOfError(error)),
  })
  upload.start()

  return {
    outcome,
    stop() {
      void upload.abort()
    },
    cancel() {
      isCancelled = true
      // The request that creates the upload is still running; `onUploadUrlAvailable` discards it.
      if (upload.url === null) return
      void upload.abort()
      void terminate(upload.url)
    },
  }
}

/**
 * Discards what has arrived. Resolves to whether the server knows; if it does not, the upload
 * expires there.
 */
export async function terminate(url: string | null): Promise<boolean> {
  if (url === null) return true
  try {
    await Upload.terminate(absolute(url), { retryDelays: DISCARD_AFTER })
    return true
  } catch (error) {
    return statusOf(error) !== 0
  }
}

function outcomeOfError(error: Error | DetailedError): Outcome {
  const body = "originalResponse" in error ? error.originalResponse?.getBody() : undefined
  return outcomeOf(statusOf(error), body ?? "")
}

/** The upload was finished, discarded, or has expired. */
function isGone(error: Error): boolean {
  return [404, 410].includes(statusOf(error))
}

/** 0 if there was no response. */
function statusOf(error: unknown): number {
  if (!(error instanceof Error) || !("originalResponse" in error)) return 0
  return (error as DetailedError).originalResponse?.getStatus() ?? 0
}

function absolute(path: string): string {
  return new URL(path, location.origin).href
}

function pathOf(url: string): string {
  return new URL(url, location.origin).pathname
}
