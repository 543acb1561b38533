import { href } from "react-router"
import type { DetailedError, Upload } from "tus-js-client"
import type { Sending, Told, ToSend } from "./sending.ts"
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

/** Sends by tus 1.0. To resume an upload, it first asks the server how much has arrived. */
export function sendInParts({ file, url, spaceId }: ToSend, told: Told): Sending {
  const { promise: outcome, resolve } = Promise.withResolvers<Outcome>()
  const endpoint = absolute(spaceId === undefined ? ENDPOINT : `${ENDPOINT}?spaceId=${spaceId}`)
  let upload: Upload | undefined
  let ended: "stopped" | "cancelled" | undefined

  import("tus-js-client").then(
    (tus) => {
      if (ended) return
      upload = new tus.Upload(file, {
        // With both, the library would start over whenever the server failed to respond for a
        // moment.
        ...(url ? { uploadUrl: absolute(url) } : { endpoint }),
        metadata: { filename: file.name, lastModified: String(file.lastModified) },
        chunkSize: PART,
        // The queue decides when to try again, and stores the URLs.
        retryDelays: null,
        storeFingerprintForResuming: false,
        onUploadUrlAvailable() {
          if (ended === "cancelled") void upload?.abort().then(() => discard(upload?.url))
          else if (upload?.url) told.began(pathOf(upload.url))
        },
        onProgress: (sent) => told.sent(sent),
        onChunkComplete: (_part, accepted) => told.kept(accepted),
        onSuccess: () => resolve({ end: "stored" }),
        onError: (error) => resolve(isGone(error) ? { end: "gone" } : outcomeOfError(error)),
      })
      upload.start()
    },
    () => resolve({ end: "lost", status: 0 }),
  )

  return {
    outcome,
    stop() {
      ended = "stopped"
      void upload?.abort()
    },
    cancel() {
      ended = "cancelled"
      // The request that creates the upload is still running; `onUploadUrlAvailable` discards it.
      if (upload && upload.url === null) return
      const address = upload?.url ?? url
      void upload?.abort()
      void discard(address)
    },
  }
}

/**
 * Discards what has arrived. Resolves to whether the server knows; if it does not, the upload
 * expires there.
 */
export async function discard(url: string | null | undefined): Promise<boolean> {
  if (!url) return true
  try {
    const { Upload } = await import("tus-js-client")
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
