/** Exclusive access of one request to an upload, across all processes. */
export interface UploadLock {
  /** Aborted, with a refusal as its reason, when the request should stop reading its body. */
  readonly signal: AbortSignal
  /** Records that bytes arrived. */
  touch(): void
  release(): Promise<void>
}

export interface UploadLocks {
  /**
   * Waits up to three seconds for another request, which yields if it receives no bytes: a sender
   * that lost its connection may be back before the server notices. Throws `Locked`.
   */
  take(id: string): Promise<UploadLock>
  /** Ends the request that holds the upload, in whichever process, because the upload is gone. */
  cancel(id: string): Promise<void>
  /** Handlers for announcements of other processes. */
  readonly announcements: Readonly<Record<string, (text: string) => void>>
  /**
   * Ends every request of this process that is receiving bytes; it can be resumed in another
   * process.
   */
  interrupt(): void
  close(): Promise<void>
}
