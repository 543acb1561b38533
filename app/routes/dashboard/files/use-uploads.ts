import { useEffect, useRef, useSyncExternalStore } from "react"
import { useRevalidator } from "react-router"
import { uploadQueue, type Upload } from "./upload-queue.ts"

const NONE: readonly Upload[] = []

/** How long what went well stays to be seen. Milliseconds. */
const SEEN_AFTER = 4000

/** The uploads, and what the page does about them: new files show, leaving asks first, and what is done goes away. */
export function useUploads(): readonly Upload[] {
  const uploads = useSyncExternalStore(uploadQueue.subscribe, uploadQueue.list, () => NONE)
  const done = uploads.filter((upload) => upload.state === "done").length
  const isBusy = uploads.some((upload) => upload.state === "waiting" || upload.state === "sending")
  useNewFiles(done)
  useQuestionBeforeLeaving(isBusy)

  useEffect(() => {
    if (isBusy || done === 0) return
    const seen = setTimeout(uploadQueue.forgetDone, SEEN_AFTER)
    return () => clearTimeout(seen)
  }, [isBusy, done])
  return uploads
}

function useNewFiles(done: number) {
  const { revalidate } = useRevalidator()
  const before = useRef(done)
  useEffect(() => {
    if (done > before.current) void revalidate()
    before.current = done
  }, [done, revalidate])
}

function useQuestionBeforeLeaving(isBusy: boolean) {
  useEffect(() => {
    if (!isBusy) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener("beforeunload", ask)
    return () => window.removeEventListener("beforeunload", ask)
  }, [isBusy])
}
