/** A message without its recipient. */
export interface Email {
  subject: string
  text: string
  html: string
}

export interface Message extends Email {
  to: string
  /**
   * `<something@host>`. A message that is sent again has the same; without it the adapter makes one
   * up.
   */
  messageId?: string
}

/** Delivers messages to the provider. Retrying is the caller's decision. */
export interface Mail {
  /**
   * Resolves with the provider's message id. Throws an error whose text may be shown to the caller,
   * with `isPermanent` if the same message would be refused again.
   */
  send(message: Message): Promise<{ id: string }>
  close(): void
}

/** Whether the provider refused this message permanently. Connection failures are temporary. */
export function isPermanent(error: unknown): boolean {
  return error instanceof Error && "isPermanent" in error && error.isPermanent === true
}
