import { createElement } from "react"
import type { Letter } from "#server/ports/mail.ts"
import { Action, compose, Paragraph, Sheet } from "./parts.ts"

/** What every letter needs: `origin` is the site's public origin. */
interface Site {
  origin: string
}

export function welcomeLetter({ name, origin }: Site & { name: string }): Promise<Letter> {
  const reader = readerOf(name)
  return letter({
    subject: "Welcome to Tideline",
    preview: "Your account is ready: chat, files and everything live.",
    heading: reader ? `Welcome aboard, ${reader}` : "Welcome aboard",
    body: [
      "Your Tideline account is ready. Ask the chat a question, put your files where every device of yours sees them, and watch each change arrive the moment it is made.",
      "The dashboard is the place to begin.",
    ],
    action: { label: "Open the dashboard", url: `${origin}/dashboard` },
    reason: "You get this letter because you have an account here.",
    origin,
  })
}

export function planChangedLetter({
  name,
  previousPlan,
  newPlan,
  origin,
}: Site & { name: string; previousPlan: string; newPlan: string }): Promise<Letter> {
  const reader = readerOf(name)
  const [previous, next] = [oneLine(previousPlan), oneLine(newPlan)]
  return letter({
    subject: "Your Tideline plan has changed",
    preview: `From ${previous} to ${next}.`,
    heading: reader ? `${reader}, your plan has changed` : "Your plan has changed",
    body: [
      `You were on the ${previous} plan. From now on you are on the ${next} plan.`,
      "Your files and conversations stay as they are. If you did not expect this, answer this letter.",
    ],
    action: { label: "See what each plan holds", url: `${origin}/pricing` },
    reason: "You get this letter because the plan of your account changed.",
    origin,
  })
}

/** `url` carries the token; `minutes` is how long it is good for. */
export function passwordResetLetter({
  url,
  minutes,
  origin,
}: Site & { url: string; minutes: number }): Promise<Letter> {
  return letter({
    subject: "Reset your Tideline password",
    preview: `The link inside is good for ${minutes} minutes.`,
    heading: "Choose a new password",
    body: [
      `Somebody, probably you, asked to reset the password of this account. The link is good for ${minutes} minutes and works once.`,
      "If it was not you, there is nothing to do: your password stays as it is.",
    ],
    action: { label: "Choose a new password", url },
    reason: "You get this letter because a password reset was asked for at this address.",
    origin,
  })
}

/** `url` carries the token. */
export function verifyAddressLetter({ url, origin }: Site & { url: string }): Promise<Letter> {
  return letter({
    subject: "Confirm your address for Tideline",
    preview: "One click, and we know that this address is yours.",
    heading: "Confirm your address",
    body: [
      "An account was made with this address. Confirm that it is yours, so that nobody else can use it.",
      "If you made no account, ignore this letter.",
    ],
    action: { label: "Confirm this address", url },
    reason: "You get this letter because this address was used to make an account.",
    origin,
  })
}

/** To the owner of an account, where a sign-up with its address is answered as any other. */
export function signUpAttemptedLetter({ origin }: Site): Promise<Letter> {
  return letter({
    subject: "You have a Tideline account already",
    preview: "Somebody tried to make another one with this address.",
    heading: "You have an account already",
    body: [
      "Somebody, probably you, tried to make an account with this address. It has one, and no other was made.",
      {
        text: "Sign in with the password that you chose then. If you have forgotten it, choose a new one here:",
        url: `${origin}/sign-in/forgot-password`,
      },
      "If it was not you, there is nothing to do: whoever it was has learned nothing.",
    ],
    action: { label: "Sign in", url: `${origin}/sign-in` },
    reason: "You get this letter because this address was used to make an account.",
    origin,
  })
}

/** `url` carries the token; `days` is how long it is good for. */
export function waitlistConfirmationLetter({
  url,
  days,
  origin,
}: Site & { url: string; days: number }): Promise<Letter> {
  return letter({
    subject: "Confirm your place on the Tideline waitlist",
    preview: "One click, and you are on the list.",
    heading: "Confirm your place",
    body: [
      `This address was left on the waitlist. Confirm that it was you, and you are told when there is room. The link is good for ${days} days.`,
      "If it was not you, ignore this letter, and nothing more happens.",
    ],
    action: { label: "Confirm my place", url },
    reason: "You get this letter because somebody typed this address on the waitlist page.",
    origin,
  })
}

/** `url` carries the token; `days` is how long it is good for. */
export function waitlistInvitationLetter({
  url,
  days,
  origin,
}: Site & { url: string; days: number }): Promise<Letter> {
  return letter({
    subject: "There is room for you at Tideline",
    preview: "Your invitation to make an account.",
    heading: "There is room for you",
    body: [
      `The people who run this site invite you to make an account. The link is for this address alone, is good for ${days} days, and works once.`,
      "If you want no account here, ignore this letter.",
    ],
    action: { label: "Make my account", url },
    reason: "You get this letter because the people who run this site invited this address.",
    origin,
  })
}

export function accountDeletedLetter({ name, origin }: Site & { name: string }): Promise<Letter> {
  const reader = readerOf(name)
  return letter({
    subject: "Your Tideline account is deleted",
    preview: "Your files and conversations are gone with it.",
    heading: reader ? `${reader}, your account is deleted` : "Your account is deleted",
    body: [
      "Your account is gone from this site, and with it your files and conversations. Backups may hold them until those are replaced.",
      "This is the last letter about it. If it was not you who deleted the account, answer this letter.",
    ],
    reason: "You get this letter because the account with this address was deleted.",
    origin,
  })
}

interface Words extends Site {
  /** Goes into a header, so it never holds a person's words. */
  subject: string
  preview: string
  heading: string
  /** What there is to say, and where it leads, if anywhere. */
  body: (string | { text: string; url: string })[]
  action?: { label: string; url: string }
  reason: string
}

function letter({ body, action, ...words }: Words): Promise<Letter> {
  const paragraphs = body
    .map((said) => (typeof said === "string" ? { text: said } : said))
    .map((said) => createElement(Paragraph, { key: said.text, ...said }))
  const button = action && createElement(Action, action)
  return compose(words.subject, createElement(Sheet, words, paragraphs, button))
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
