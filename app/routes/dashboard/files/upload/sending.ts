import type { Outcome } from "./upload-outcome.ts"

export interface Sending {
  /** Never rejects, and never settles after `stop` or `cancel`. */
  outcome: Promise<Outcome>
  /** Stops, and lets the server keep what has arrived, so that it can be resumed. */
  stop(): void
  /** Stops, and discards what has arrived, which frees its space. */
  cancel(): void
}

export interface ToSend {
  file: File
  /** Set to resume an upload that was created earlier. */
  url: string | undefined
  /** Where it goes; undefined for what is personal. */
  spaceId: string | undefined
  /** Names it, so that what is sent again after a lost response is stored once. */
  id: string
}

export interface UploadCallbacks {
  /** Bytes of the file that have been sent, counted from its beginning. */
  sent(bytes: number): void
  /** The URL at which the upload can be resumed, once the server has returned it. */
  began(url: string): void
  /** Bytes that the server has stored durably, so that they survive a power failure. */
  kept(bytes: number): void
}
