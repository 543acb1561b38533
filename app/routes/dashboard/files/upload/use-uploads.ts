import { useEffect, useSyncExternalStore } from "react"
import { whenIdle } from "#app/ui/when-idle.ts"
import { isRunning, type Uploads } from "./upload.ts"
import { NO_UPLOADS } from "./queue-snapshot.ts"
import { uploadQueue } from "./upload-queue.ts"

/** Milliseconds for which completed uploads stay visible. */
const SEEN_AFTER = 4000

export function useUploads(): Uploads {
  return useSyncExternalStore(uploadQueue.subscribe, uploadQueue.snapshot, () => NO_UPLOADS)
}

/**
 * The side effects of uploads on every page of the dashboard: resumes what an earlier page left,
 * retries as soon as the connection is back, asks before the page is left, and removes completed
 * uploads. Renders nothing, so that progress does not render anything around it.
 */
export function UploadKeeper({ userId }: { userId: string }): null {
  const { list } = useUploads()
  const isBusy = list.some(isRunning)
  const hasDone = list.some(({ state }) => state === "done")

  useEffect(() => whenIdle(() => void uploadQueue.continueFor(userId)).cancel, [userId])

  useEffect(() => {
    window.addEventListener("online", uploadQueue.backOnline)
    window.addEventListener("offline", uploadQueue.goneOffline)
    return () => {
      window.removeEventListener("online", uploadQueue.backOnline)
      window.removeEventListener("offline", uploadQueue.goneOffline)
    }
  }, [])

  useEffect(() => {
    if (!isBusy) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener("beforeunload", ask)
    return () => window.removeEventListener("beforeunload", ask)
  }, [isBusy])

  useEffect(() => {
    if (isBusy || !hasDone) return
    const seen = setTimeout(uploadQueue.forgetDone, SEEN_AFTER)
    return () => clearTimeout(seen)
  }, [isBusy, hasDone])
  return null
}
