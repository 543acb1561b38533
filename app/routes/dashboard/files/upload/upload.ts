/**
 * An upload as shown to the user. `sent`: bytes that have left this device. `rate`: bytes per
 * second.
 */
export type Upload = {
  id: string
  name: string
  size: number
  sent: number
  /** Null if it is unknown. */
  rate: number | null
} & UploadState

export type UploadState =
  /** In the queue. */
  | { state: "waiting" }
  | { state: "sending" }
  /** Paused by the user. */
  | { state: "paused" }
  /** The connection was lost: it resumes automatically. */
  | { state: "held"; isOffline: boolean }
  /**
   * The page was reloaded, so the file is needed again: the user has to choose it, or only to
   * permit access if `mayAsk`.
   */
  | { state: "missing"; mayAsk: boolean }
  | { state: "done" }
  | { state: "failed"; reason: string }

export interface Uploads {
  list: readonly Upload[]
  /** Bytes per second, in total. */
  rate: number | null
}

/** A file that was chosen, dropped or pasted. */
export interface Chosen {
  file: File
  /** Set if the browser can reopen the file after a reload. */
  handle?: FileSystemFileHandle | undefined
}

/** Limits in bytes: the largest file, and the free space. The server checks both again. */
export interface UploadLimits {
  maxSize: number
  freeSpace: number
}

/** Neither ended nor paused: closing the page would interrupt it. */
export function isRunning({ state }: Upload): boolean {
  return state === "waiting" || state === "sending" || state === "held"
}

/** How many uploads there are besides those that failed, and their bytes. */
export function sumOf(list: readonly Upload[]) {
  const counted = list.filter(({ state }) => state !== "failed")
  const sum = (of: "size" | "sent") => counted.reduce((total, upload) => total + upload[of], 0)
  return { total: counted.length, size: sum("size"), sent: sum("sent") }
}
