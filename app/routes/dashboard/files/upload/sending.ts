import type { Outcome } from "./upload-outcome.ts"

export interface Sending {
  /** Never rejects, and stays open after `stop` and `cancel`. */
  outcome: Promise<Outcome>
  /** What has arrived is kept, for a later sending to go on from. */
  stop(): void
  /** What has arrived is given up, and its room with it. */
  cancel(): void
}

export interface ToSend {
  file: File
  /** Where an earlier sending of the file began. */
  url: string | undefined
}

export interface Told {
  /** Bytes of the file that have left, counted from its beginning. */
  sent(bytes: number): void
  /** Where the sending can be continued, once the server has said so. */
  began(url: string): void
  /** Bytes that the server has, and will have after a power cut. */
  kept(bytes: number): void
}
