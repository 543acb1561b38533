import { formatBytes } from "#server/files/contract.ts"
import { sendFile, type Sending } from "./send-file.ts"

export type Upload = { id: number; file: File } & (
  | { state: "waiting" }
  | { state: "sending"; sent: number }
  | { state: "done" }
  | { state: "failed"; reason: string }
)

/** What may be sent, in bytes: the largest file, and the room that is left. The server has the last word on both. */
export interface UploadLimits {
  maxSize: number
  room: number
}

const AT_ONCE = 3

/** Sends files a few at a time. It belongs to no page: whoever goes elsewhere in the dashboard and comes back finds it at work. */
export const uploadQueue = createUploadQueue(sendFile)

export function createUploadQueue(send: typeof sendFile) {
  let uploads: readonly Upload[] = []
  let lastId = 0
  const sendings = new Map<number, Sending>()
  const listeners = new Set<() => void>()

  function add(files: readonly File[], limits: UploadLimits) {
    change([...uploads, ...files.map((file) => enqueue(file, limits))])
    sendNext()
  }

  function enqueue(file: File, limits: UploadLimits): Upload {
    const reason = whyNot(file, limits)
    return { id: ++lastId, file, ...(reason ? { state: "failed", reason } : { state: "waiting" }) }
  }

  function sendNext() {
    for (const upload of uploads) {
      if (sendings.size >= AT_ONCE) return
      if (upload.state === "waiting") void start(upload)
    }
  }

  async function start({ id, file }: Upload) {
    const sending = send(file, (sent) => update(id, { state: "sending", sent }))
    sendings.set(id, sending)
    update(id, { state: "sending", sent: 0 })
    const outcome = await sending.outcome
    sendings.delete(id)
    update(id, outcome)
    sendNext()
  }

  /** Gives up what is waiting or being sent, and forgets what ended. */
  function remove(id: number) {
    change(uploads.filter((upload) => upload.id !== id))
    sendings.get(id)?.cancel()
  }

  function retry(id: number) {
    update(id, { state: "waiting" })
    sendNext()
  }

  function forgetDone() {
    change(uploads.filter((upload) => upload.state !== "done"))
  }

  /** Does nothing for an upload that was removed. */
  function update(id: number, change_: { state: "waiting" } | { state: "sending"; sent: number } | Outcome) {
    change(uploads.map((upload) => (upload.id === id ? { id, file: upload.file, ...change_ } : upload)))
  }

  function change(next: readonly Upload[]) {
    uploads = next
    for (const listener of listeners) listener()
  }

  function subscribe(listener: () => void) {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  return { add, remove, retry, forgetDone, subscribe, list: () => uploads }
}

type Outcome = Awaited<Sending["outcome"]>

function whyNot(file: File, { maxSize, room }: UploadLimits): string | null {
  if (file.size > maxSize) return `It is too large: a file can be ${formatBytes(maxSize)} at most.`
  if (file.size > room)
    return `There is no room for it: ${formatBytes(Math.max(room, 0))} are left. Delete something first.`
  return null
}
