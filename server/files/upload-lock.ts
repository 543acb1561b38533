/** An upload that one request has for itself, among those of all processes. */
export interface UploadLock {
  /** Aborted, with a refusal as its reason, when no more bytes should be taken. */
  readonly signal: AbortSignal
  /** Says that bytes came. */
  moved(): void
  release(): Promise<void>
}

export interface UploadLocks {
  /**
   * Waits a little for another request, which lets go when no bytes come to it any more: whoever lost their connection may be back
   * before the server has noticed. Throws `Locked`.
   */
  take(id: string): Promise<UploadLock>
  /** Ends every request that takes bytes in this process; they can go on in another. */
  interrupt(): void
  close(): Promise<void>
}
