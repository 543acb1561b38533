import { createHash } from "node:crypto"
import type { Language } from "#server/language-contract.ts"

/** What an email says, and when it may be queued: the rest of a `Posting`. */
export interface Written {
  userId: string | null
  cause: string
  expiresAt?: number
  mostOpen?: number
  /** Used in a header, so it never contains text from a person. */
  subject: string
  /** Shown by inboxes after the subject. */
  preview: string
  heading: string
  /** The message, and where it leads, if anywhere. */
  body: (string | { text: string; url: string })[]
  button?: { label: string; url: string }
  /** Why the reader gets this email. */
  reason: string
}

/** What every email needs besides what it is about. */
export interface Frame {
  /** The reader's. */
  language: Language
  say: Say
  /** The site's public origin. */
  origin: string
}

/** A text in the reader's language. */
type Say = (...texts: [english: string, german: string]) => string

const PLACES = { en: 0, de: 1 } as const satisfies Record<Language, number>

/** People who never chose a language get English. */
export function frameOf({ origin }: { origin: string }, chosen: Language | null): Frame {
  const language = chosen ?? "en"
  return { language, origin, say: (...texts) => texts[PLACES[language]] }
}

/** An email with a link that is valid for so long, which causes one email. */
export function linkTo(url: string, milliseconds: number) {
  return { cause: digestOf(url), expiresAt: Date.now() + milliseconds }
}

/** Identifies a link without containing it. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url")
}

/**
 * Makes text from a person or a program safe inside a sentence: one line, short, no markup, no
 * invisible characters. Returns an empty string if a mail program would turn it into a link: our
 * emails link to our site only.
 */
export function plain(texts: string | null): string {
  const line = (texts ?? "")
    .toWellFormed()
    .replaceAll(/[<>]/g, "")
    .replaceAll(/[[\s\p{Cc}\p{Cf}]--[\u200C\u200D]]+/gv, " ")
    .trim()
  if (LINK.test(line.replaceAll(/[\u200C\u200D]/g, ""))) return ""
  return line.length <= 200 ? line : `${line.slice(0, 199).toWellFormed().trimEnd()}…`
}

/**
 * A name that one person gave themselves or a space, in an email to another: too short for a message,
 * and without a telephone number to call.
 */
export function label(name: string | null): string {
  const line = plain(name)
  if (TELEPHONE.test(line)) return ""
  return line.length <= 40 ? line : `${line.slice(0, 39).toWellFormed().trimEnd()}…`
}

/** Seven digits or more, however they are set apart. */
const TELEPHONE = /(?:\p{Nd}[^\p{L}\p{Nd}]{0,3}){7}/u

/**
 * Matches a path, an email address, a scheme, or a host name with any of the dots that browsers
 * accept.
 */
const LINK = /[/\\@]|\p{L}:\S|[\p{L}\p{N}][.\u3002\uFF0E\uFF61][\p{L}\p{N}]{2}/u
