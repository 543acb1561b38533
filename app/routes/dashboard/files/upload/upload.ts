/**
 * What a person sees of one upload. Bytes: `sent` have left this device, `rate` leave it every
 * second.
 */
export type Upload = {
  id: string
  name: string
  size: number
  sent: number
  /** Null while it is not known. */
  rate: number | null
} & UploadState

export type UploadState =
  /** For its turn. */
  | { state: "waiting" }
  | { state: "sending" }
  /** By the person. */
  | { state: "paused" }
  /** The connection is lost: it goes on by itself. */
  | { state: "held"; isOffline: boolean }
  /**
   * The page was loaded again: the bytes must be given once more, by the person, or with their
   * leave where `mayAsk`.
   */
  | { state: "missing"; mayAsk: boolean }
  | { state: "done" }
  | { state: "failed"; reason: string }

export interface Uploads {
  list: readonly Upload[]
  /** Bytes a second, of all together. */
  rate: number | null
}

/** What was chosen, dropped or pasted. */
export interface Chosen {
  file: File
  /** Where the browser lets the file be found again after the page was reloaded. */
  handle?: FileSystemFileHandle | undefined
}

/**
 * What may be sent, in bytes: the largest file, and the room that is left. The server has the last
 * word on both.
 */
export interface UploadLimits {
  maxSize: number
  freeSpace: number
}

/** Neither ended nor stopped by anybody: closing the page would interrupt it. */
export function isRunning({ state }: Upload): boolean {
  return state === "waiting" || state === "sending" || state === "held"
}
