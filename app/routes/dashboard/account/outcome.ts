/** By the names of fields; `form` is what is wrong with the whole. */
export type Errors = Partial<Record<string, string>>

/** What the last form came to. */
export interface Outcome {
  intent: string
  done?: string
  errors?: Errors
  values?: Record<string, string>
  made?: { key: string; name: string }
}
