import type { DetailedError, Upload } from "tus-js-client"
import type { Sending, Told, ToSend } from "./sending.ts"
import { outcomeOf, type Outcome } from "./upload-outcome.ts"

const ENDPOINT = "/api/files/uploads"

/**
 * Bytes of one request: what proxies let pass. Each is answered when it is on the server's disk, so
 * many small ones take longer.
 */
const PART = 16 * 1024 * 1024

/**
 * Milliseconds between attempts to give an upload up: the request that was broken off may hold it
 * for a moment.
 */
const DISCARD_AFTER = [100, 300, 600, 1000, 2000, 4000]

/** Sends by tus 1.0: asks the server first how much it has, where the sending was begun before. */
export function sendInParts({ file, url }: ToSend, told: Told): Sending {
  const { promise: outcome, resolve } = Promise.withResolvers<Outcome>()
  let upload: Upload | undefined
  let ended: "stopped" | "cancelled" | undefined

  import("tus-js-client").then(
    (tus) => {
      if (ended) return
      upload = new tus.Upload(file, {
        // With both, the library would start over whenever the server could not answer for a
        // moment.
        ...(url ? { uploadUrl: absolute(url) } : { endpoint: absolute(ENDPOINT) }),
        metadata: { filename: file.name },
        chunkSize: PART,
        // The queue decides when to try again, and keeps the addresses.
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
      // While it is being begun its address is on the way here, and is waited for.
      if (upload && upload.url === null) return
      const address = upload?.url ?? url
      void upload?.abort()
      void discard(address)
    },
  }
}

/**
 * Gives up what has arrived. Resolves with whether the server knows; it gives up by itself in the
 * end.
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

/** It was finished, given up, or took too long. */
function isGone(error: Error): boolean {
  return [404, 410].includes(statusOf(error))
}

/** 0 where there was no answer. */
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
