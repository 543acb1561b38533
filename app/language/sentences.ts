import type { I18n, MessageDescriptor } from "@lingui/core"
import { useLingui } from "@lingui/react"
import type { RefusalData, RefusalValues } from "#server/refusal-contract.ts"
import { formatsOf } from "./formats.ts"

/**
 * A message, or what the server said: a refusal or an English sentence from a loader, an action, a
 * response or the socket. An error of the browser's own can be passed like a refusal.
 */
export type Sentence = MessageDescriptor | RefusalData

/** Translates into the page's language; a sentence without a translation is returned unchanged. */
export interface Say {
  (said: Sentence): string
  (said: Sentence | null | undefined): string | undefined
}

/** Call `const say = useSentences()`, then `say(refusal.message)` where it is rendered. */
export function useSentences(): Say {
  return sentencesIn(useLingui().i18n)
}

/** For functions that are not components. */
export function sentencesIn(i18n: I18n): Say {
  function say(said: Sentence): string
  function say(said: Sentence | null | undefined): string | undefined
  function say(said: Sentence | null | undefined): string | undefined {
    if (said === null || said === undefined) return undefined
    if ("id" in said) return i18n._(said)
    const { message, reason, values = {} } = said
    // The catalogues have the other languages' texts of each reason; the English is in the message.
    if (reason !== undefined && reason in i18n.messages) return i18n._(reason, localize(values, i18n))
    return message
  }
  return say
}

/** Translates the errors of a form's fields. */
export function sayAll<Field extends string>(
  problems: Partial<Record<Field, Sentence>> | undefined,
  say: Say,
): Partial<Record<Field, string>> {
  const said = Object.entries<Sentence | undefined>(problems ?? {}).map(([field, problem]) => [
    field,
    say(problem),
  ])
  return Object.fromEntries(said) as Partial<Record<Field, string>>
}

/** The refusal in the body of a JSON response; a proxy that responds in our place sends none. */
export function refusalIn(body: unknown): RefusalData | null {
  if (typeof body !== "object" || body === null || !("error" in body)) return null
  const { error, ...rest } = body
  return typeof error === "string" ? { ...rest, message: error } : null
}

/** Numbers stay what they are: the translation formats them. */
function localize(values: RefusalValues, i18n: I18n): Record<string, string | number> {
  const { bytes } = formatsOf(i18n)
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === "object" ? bytes(value.bytes) : value,
    ]),
  )
}
