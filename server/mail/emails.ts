import { createElement } from "react"
import type { Language } from "#server/language-contract.ts"
import type { Email } from "#server/ports/mail.ts"
import { english } from "./english.ts"
import { german } from "./german.ts"
import { readDevice } from "#server/devices/device-contract.ts"
import type { EmailTexts, NoticeSubject, Words } from "./email-texts.ts"
import { Action, compose, Paragraph, Sheet } from "./parts.ts"

const TEXTS: Record<Language, EmailTexts> = { en: english, de: german }

/** Messages that an email about mentions quotes. */
const MOST_QUOTED = 5

/** What every email needs. */
interface Frame {
  /** The reader's. */
  language: Language
  /** The site's public origin. */
  origin: string
}

export function welcomeEmail({ name, ...frame }: Frame & { name: string }): Promise<Email> {
  const texts = TEXTS[frame.language].welcome({ reader: plain(name) })
  return message(frame, texts, { label: texts.button, url: `${frame.origin}/dashboard` })
}

export function planChangedEmail({
  name,
  previousPlan,
  newPlan,
  ...frame
}: Frame & { name: string; previousPlan: string; newPlan: string }): Promise<Email> {
  const [reader, previous, next] = [plain(name), plain(previousPlan), plain(newPlan)]
  const texts = TEXTS[frame.language].planChanged({ reader, previous, next })
  return message(frame, texts, { label: texts.button, url: `${frame.origin}/pricing` })
}

/** `url` contains the token, which is valid for `minutes`. */
export function passwordResetEmail({
  url,
  minutes,
  ...frame
}: Frame & { url: string; minutes: number }): Promise<Email> {
  const texts = TEXTS[frame.language].passwordReset({ minutes })
  return message(frame, texts, { label: texts.button, url })
}

/** `url` contains the token. */
export function verifyAddressEmail({ url, ...frame }: Frame & { url: string }): Promise<Email> {
  const texts = TEXTS[frame.language].verifyAddress()
  return message(frame, texts, { label: texts.button, url })
}

/**
 * To the owner of an account when somebody signs up with its address and gets the same response as
 * for any other.
 */
export function signUpAttemptedEmail(frame: Frame): Promise<Email> {
  const url = `${frame.origin}/sign-in`
  const texts = TEXTS[frame.language].signUpAttempted({ resetUrl: `${url}/forgot-password` })
  return message(frame, texts, { label: texts.button, url })
}

/** `url` contains the token; it is valid for `days`. */
export function waitlistConfirmationEmail({
  url,
  days,
  ...frame
}: Frame & { url: string; days: number }): Promise<Email> {
  const texts = TEXTS[frame.language].waitlistConfirmation({ days })
  return message(frame, texts, { label: texts.button, url })
}

/** `url` contains the token; it is valid for `days`. */
export function waitlistInvitationEmail({
  url,
  days,
  ...frame
}: Frame & { url: string; days: number }): Promise<Email> {
  const texts = TEXTS[frame.language].waitlistInvitation({ days })
  return message(frame, texts, { label: texts.button, url })
}

/** `url` contains the token; it is valid for `days`. */
export function spaceInvitationEmail({
  url,
  days,
  inviter,
  space,
  ...frame
}: Frame & { url: string; days: number; inviter: string; space: string }): Promise<Email> {
  const texts = TEXTS[frame.language].spaceInvitation({ inviter: label(inviter), space: label(space), days })
  return message(frame, texts, { label: texts.button, url })
}

/** Messages in which the reader was mentioned, oldest first. `conversations` counts theirs. */
export function mentionEmail({
  url,
  conversations,
  mentions,
  ...frame
}: Frame & {
  url: string
  conversations: number
  mentions: { author: string | null; space: string; excerpt: string }[]
}): Promise<Email> {
  const spaces = new Set(mentions.map(({ space }) => label(space)))
  const quoted = mentions
    .slice(-MOST_QUOTED)
    .map(({ author, space, excerpt }) => ({
      author: label(author ?? ""),
      space: spaces.size === 1 ? "" : label(space),
      // The @ of a mention would look like a part of an address.
      said: plain(excerpt.replaceAll(/(?<![\p{L}\p{N}_])@/gu, "")),
    }))
    .filter(({ said }) => said !== "")
  const texts = TEXTS[frame.language].mention({
    space: spaces.size === 1 ? ([...spaces][0] ?? "") : "",
    conversations,
    more: quoted.length > 0 ? mentions.length - quoted.length : 0,
    mentions: quoted,
    settingsUrl: `${frame.origin}/dashboard/account#notifications`,
  })
  return message(frame, texts, { label: texts.button, url })
}

export function accountDeletedEmail({ name, ...frame }: Frame & { name: string }): Promise<Email> {
  return message(frame, TEXTS[frame.language].accountDeleted({ reader: plain(name) }))
}

/** What happened in or to an account, as it is known. `at` is in milliseconds since the epoch. */
export interface NoticeFacts {
  at: number
  address: string | null
  userAgent: string | null
  /** What the person called a key or passkey. */
  name: string | null
}

/** To a person about the security of their account, and what to do if it was not them. */
export function securityNoticeEmail({
  subject,
  facts: { at, address, userAgent, name },
  ...frame
}: Frame & { subject: NoticeSubject; facts: NoticeFacts }): Promise<Email> {
  const time = new Intl.DateTimeFormat(frame.language, {
    dateStyle: "long",
    timeStyle: "short",
    timeZone: "UTC",
  })
  const details = {
    when: `${time.format(at)} UTC`,
    browser: userAgent === null ? null : readDevice(userAgent),
    address,
    name: plain(name ?? ""),
  }
  const resetUrl = `${frame.origin}/sign-in/forgot-password`
  const texts = TEXTS[frame.language].securityNotice({ subject, details, resetUrl })
  return message(frame, texts, { label: texts.button, url: `${frame.origin}/dashboard/account` })
}

/** `url` contains the token, which is valid for `hours`. */
export function confirmAddressChangeEmail({
  url,
  isNew,
  isConfirmed,
  next,
  hours,
  ...frame
}: Frame & {
  url: string
  /** Whether this is the address that the account changes to. */
  isNew: boolean
  /** Whether the address that it changes from is confirmed, so that its owner has to agree. */
  isConfirmed: boolean
  next: string
  hours: number
}): Promise<Email> {
  const texts = TEXTS[frame.language].confirmAddressChange({ isNew, isConfirmed, next, hours })
  return message(frame, texts, { label: texts.button, url })
}

/** To the owner of an account when somebody wants to change another one to its address. */
export function addressChangeAttemptedEmail(frame: Frame): Promise<Email> {
  const texts = TEXTS[frame.language].addressChangeAttempted()
  return message(frame, texts, { label: texts.button, url: `${frame.origin}/sign-in` })
}

function message(
  { language, origin }: Frame,
  { body, ...texts }: Words,
  action?: { label: string; url: string },
): Promise<Email> {
  const paragraphs = body
    .map((said) => (typeof said === "string" ? { text: said } : said))
    .map((said) => createElement(Paragraph, { key: said.text, ...said }))
  const { orOpen } = TEXTS[language]
  const button = action && createElement(Action, { ...action, orOpen })
  return compose(texts.subject, createElement(Sheet, { ...texts, language, origin }, paragraphs, button))
}

/**
 * Makes text from a person or a program safe inside a sentence: one line, short, no markup, no
 * invisible characters. Returns an empty string if a mail program would turn it into a link: our
 * emails link to our site only.
 */
function plain(texts: string): string {
  const line = texts
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
function label(name: string): string {
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
