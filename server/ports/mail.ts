export interface Message {
  to: string
  subject: string
  text: string
  html: string
}

/** Delivers messages to the provider. Retrying is the caller's decision. */
export interface Mail {
  /** Says the provider's id for the message. Throws an error whose text may be shown to the person who asked. */
  send(message: Message): Promise<{ id: string }>
  close(): void
}
