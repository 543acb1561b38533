export interface Message {
  to: string
  subject: string
  text: string
  html: string
}

/** Delivers one message to the provider and says the provider's id for it, or throws. Retrying is the caller's decision. */
export interface Mail {
  send(message: Message): Promise<{ id: string }>
  close(): void
}
