import type { Sending, UploadCallbacks, ToSend } from "./sending.ts"
import type { Outcome } from "./upload-outcome.ts"

/** What most uploads do not need is loaded with the first that does. */
const load = () => import("./tus-upload.ts")

/** Sends by tus 1.0. To resume an upload, it first asks the server how much has arrived. */
export function sendInParts(given: ToSend, told: UploadCallbacks): Sending {
  const { promise: outcome, resolve } = Promise.withResolvers<Outcome>()
  let sending: Sending | undefined
  let isOver = false

  load().then(
    ({ startUpload }) => {
      if (isOver) return
      sending = startUpload(given, told)
      void sending.outcome.then(resolve)
    },
    () => resolve({ end: "lost", status: 0 }),
  )

  return {
    outcome,
    stop() {
      isOver = true
      sending?.stop()
    },
    cancel() {
      isOver = true
      if (sending) sending.cancel()
      else void discard(given.url)
    },
  }
}

/** Discards what has arrived. Resolves to whether the server knows. */
export async function discard(url: string | undefined): Promise<boolean> {
  if (!url) return true
  return load().then(
    ({ terminate }) => terminate(url),
    () => false,
  )
}
