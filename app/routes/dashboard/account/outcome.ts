import { sayAll, type Say, type Sentence } from "#app/language/sentences.ts"

/** By the names of fields; `form` is what is wrong with the whole. */
export type Errors<Words = Sentence> = Partial<Record<string, Words>>

/** What the last form came to: as the action says it, and in the words of the page's language. */
export interface Outcome<Words = string> {
  intent: string
  done?: Words
  errors?: Errors<Words>
  values?: Record<string, string>
  made?: { key: string; name: string }
  recoveryCodes?: string[]
}

export function sayOutcome({ done, errors, ...rest }: Outcome<Sentence>, say: Say): Outcome {
  return {
    ...rest,
    ...(done && { done: say(done) }),
    ...(errors && { errors: sayAll(errors, say) }),
  }
}
