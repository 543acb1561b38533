import { createElement } from "react"
import type { Language } from "#server/languages/contract.ts"
import type { Letter } from "#server/ports/mail.ts"
import { english } from "./english.ts"
import { german } from "./german.ts"
import type { LetterWords, Words } from "./letter-words.ts"
import { Action, compose, Paragraph, Sheet } from "./parts.ts"

const WORDS: Record<Language, LetterWords> = { en: english, de: german }

/** What every letter needs. */
interface Frame {
  /** The reader's. */
  language: Language
  /** The site's public origin. */
  origin: string
}

export function welcomeLetter({ name, ...frame }: Frame & { name: string }): Promise<Letter> {
  const words = WORDS[frame.language].welcome({ reader: readerOf(name) })
  return letter(frame, words, { label: words.button, url: `${frame.origin}/dashboard` })
}

export function planChangedLetter({
  name,
  previousPlan,
  newPlan,
  ...frame
}: Frame & { name: string; previousPlan: string; newPlan: string }): Promise<Letter> {
  const [previous, next] = [oneLine(previousPlan), oneLine(newPlan)]
  const words = WORDS[frame.language].planChanged({ reader: readerOf(name), previous, next })
  return letter(frame, words, { label: words.button, url: `${frame.origin}/pricing` })
}

/** `url` carries the token; `minutes` is how long it is good for. */
export function passwordResetLetter({
  url,
  minutes,
  ...frame
}: Frame & { url: string; minutes: number }): Promise<Letter> {
  const words = WORDS[frame.language].passwordReset({ minutes })
  return letter(frame, words, { label: words.button, url })
}

/** `url` carries the token. */
export function verifyAddressLetter({ url, ...frame }: Frame & { url: string }): Promise<Letter> {
  const words = WORDS[frame.language].verifyAddress()
  return letter(frame, words, { label: words.button, url })
}

/** To the owner of an account, where a sign-up with its address is answered as any other. */
export function signUpAttemptedLetter(frame: Frame): Promise<Letter> {
  const url = `${frame.origin}/sign-in`
  const words = WORDS[frame.language].signUpAttempted({ resetUrl: `${url}/forgot-password` })
  return letter(frame, words, { label: words.button, url })
}

/** `url` carries the token; `days` is how long it is good for. */
export function waitlistConfirmationLetter({
  url,
  days,
  ...frame
}: Frame & { url: string; days: number }): Promise<Letter> {
  const words = WORDS[frame.language].waitlistConfirmation({ days })
  return letter(frame, words, { label: words.button, url })
}

/** `url` carries the token; `days` is how long it is good for. */
export function waitlistInvitationLetter({
  url,
  days,
  ...frame
}: Frame & { url: string; days: number }): Promise<Letter> {
  const words = WORDS[frame.language].waitlistInvitation({ days })
  return letter(frame, words, { label: words.button, url })
}

export function accountDeletedLetter({ name, ...frame }: Frame & { name: string }): Promise<Letter> {
  return letter(frame, WORDS[frame.language].accountDeleted({ reader: readerOf(name) }))
}

function letter(
  { language, origin }: Frame,
  { body, ...words }: Words,
  action?: { label: string; url: string },
): Promise<Letter> {
  const paragraphs = body
    .map((said) => (typeof said === "string" ? { text: said } : said))
    .map((said) => createElement(Paragraph, { key: said.text, ...said }))
  const { orOpen } = WORDS[language]
  const button = action && createElement(Action, { ...action, orOpen })
  return compose(words.subject, createElement(Sheet, { ...words, language, origin }, paragraphs, button))
}

/**
 * The name to greet somebody by. Who signs up with another's address chooses this too, so what a mail program would make a link of is
 * no name.
 */
function readerOf(name: string): string {
  const reader = oneLine(name)
  return /[/@\\]|\w\.\w\w/.test(reader) ? "" : reader
}

/** A person's words inside a sentence: no line breaks, control or direction characters, and short enough to stay a sentence. */
function oneLine(words: string): string {
  const line = words.replaceAll(/[\s\p{Cc}\u202A-\u202E\u2066-\u2069]+/gu, " ").trim()
  return line.length <= 200 ? line : `${line.slice(0, 199).toWellFormed().trimEnd()}…`
}
