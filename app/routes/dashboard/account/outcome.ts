import { sayAll, type Say, type Sentence } from "#app/language/sentences.ts"

/** By field name; `form` holds the error that concerns the whole form. */
export type Errors<Words = Sentence> = Partial<Record<string, Words>>

/**
 * The result of the last form: as sentences from the action, or as strings in the page's language.
 */
export interface Outcome<Words = string> {
  intent: string
  done?: Words
  errors?: Errors<Words>
  values?: Record<string, string>
  made?: { key: string; name: string }
  recoveryCodes?: string[]
  /** With what the browser makes a passkey. */
  passkeyOptions?: string
}

export function sayOutcome({ done, errors, ...rest }: Outcome<Sentence>, say: Say): Outcome {
  return {
    ...rest,
    ...(done && { done: say(done) }),
    ...(errors && { errors: sayAll(errors, say) }),
  }
}
