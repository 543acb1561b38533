import type { I18n, MessageDescriptor } from "@lingui/core"
import { useLingui } from "@lingui/react"
import type { RefusalData, RefusalValues } from "#server/refusal-contract.ts"
import { formatsOf } from "./formats.ts"

/**
 * A message, or what the server said: a refusal or an English sentence from a loader, an action, a
 * response or the socket. An error of the browser's own can be passed like a refusal.
 */
export type Sentence = string | MessageDescriptor | RefusalData

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
    if (typeof said !== "string" && "id" in said) return i18n._(said)
    const { message, reason, values = {} } = typeof said === "string" ? { message: said } : said
    // The catalogues have the other languages' texts of each reason; the English is in the message.
    if (reason !== undefined && reason in i18n.messages) return i18n._(reason, localize(values, i18n))
    return i18n.locale === "en" ? message : translate(message, i18n)
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

interface Known {
  /** Set for a sentence with values: captures them by the names they have in the message. */
  pattern: RegExp | null
  message: MessageDescriptor
}

/** By the sentence, or by its pattern if it holds values. */
const known = new Map<string, Known>()

/**
 * The server adds them when it starts; a browser that shows a language other than English adds them
 * before hydration.
 */
export function addSentences(messages: readonly MessageDescriptor[]): void {
  for (const message of messages) {
    const parts = partsOf(message)
    const text = parts.map((part) => (typeof part === "string" ? part : `{${part.value}}`)).join("")
    known.set(text, {
      pattern: parts.every((part) => typeof part === "string") ? null : patternOf(parts),
      message,
    })
  }
}

function translate(sentence: string, i18n: I18n): string {
  const same = known.get(sentence)
  if (same) return i18n._(same.message)
  for (const { pattern, message } of known.values()) {
    const values = pattern?.exec(sentence)?.groups
    if (values) return i18n._({ ...message, values: localized(values, i18n) })
  }
  return sentence
}

type Part = string | { value: string }

/** A compiled message consists of texts, and of lists that begin with the name of a value. */
function partsOf({ message }: MessageDescriptor): Part[] {
  const compiled: unknown = message
  if (!Array.isArray(compiled)) return [String(compiled)]
  return compiled.map((part: unknown) => (Array.isArray(part) ? { value: String(part[0]) } : String(part)))
}

function patternOf(parts: readonly Part[]): RegExp {
  const texts = parts.map((part) =>
    typeof part === "string"
      ? part.replace(/[$()*+.?[\\\]^{|}/]/g, String.raw`\$&`)
      : `(?<${part.value}>.+?)`,
  )
  return new RegExp(`^${texts.join("")}$`, "su")
}

/** The server formats sizes with a decimal point: `1.5 MB`. */
function localized(values: Record<string, string>, i18n: I18n): Record<string, string> {
  const format = new Intl.NumberFormat(String(i18n.locales), { useGrouping: false })
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const [, amount, unit] = /^(\d+\.\d+) ([kMGTP]?B)$/.exec(value) ?? []
      return [name, amount ? `${format.format(Number(amount))} ${unit}` : value]
    }),
  )
}
