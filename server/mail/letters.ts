import { composeLetter, type Letter } from "./layout.ts"

/** `origin` is the site's public origin in every letter. */
export function welcomeLetter({ name, origin }: { name: string; origin: string }): Letter {
  const reader = oneLine(name)
  return composeLetter({
    subject: "Welcome to Tideline",
    preview: "Your account is ready: chat, files and everything live.",
    heading: reader ? `Welcome aboard, ${reader}` : "Welcome aboard",
    paragraphs: [
      "Your Tideline account is ready. Ask the chat a question, put your files where every device of yours sees them, and watch each change arrive the moment it is made.",
      "The dashboard is the place to begin.",
    ],
    action: { label: "Open the dashboard", url: `${origin}/dashboard` },
    reason: "You get this letter because you have an account here.",
    origin,
  })
}

export function planChangedLetter(letter: {
  name: string
  previousPlan: string
  newPlan: string
  origin: string
}): Letter {
  const reader = oneLine(letter.name)
  return composeLetter({
    subject: "Your Tideline plan has changed",
    preview: `From ${oneLine(letter.previousPlan)} to ${oneLine(letter.newPlan)}.`,
    heading: reader ? `${reader}, your plan has changed` : "Your plan has changed",
    paragraphs: [
      `You were on the ${oneLine(letter.previousPlan)} plan. From now on you are on the ${oneLine(letter.newPlan)} plan.`,
      "Your files and conversations stay as they are. If you did not expect this, answer this letter.",
    ],
    action: { label: "See what each plan holds", url: `${letter.origin}/pricing` },
    reason: "You get this letter because the plan of your account changed.",
    origin: letter.origin,
  })
}

/** `url` carries the token; `minutes` is how long it is good for. */
export function passwordResetLetter({
  url,
  minutes,
  origin,
}: {
  url: string
  minutes: number
  origin: string
}): Letter {
  return composeLetter({
    subject: "Reset your Tideline password",
    preview: `The link inside is good for ${minutes} minutes.`,
    heading: "Choose a new password",
    paragraphs: [
      `Somebody, probably you, asked to reset the password of this account. The link is good for ${minutes} minutes and works once.`,
      "If it was not you, there is nothing to do: your password stays as it is.",
    ],
    action: { label: "Choose a new password", url },
    reason: "You get this letter because a password reset was asked for at this address.",
    origin,
  })
}

/** `url` carries the token. */
export function verifyAddressLetter({ url, origin }: { url: string; origin: string }): Letter {
  return composeLetter({
    subject: "Confirm your address for Tideline",
    preview: "One click, and we know that this address is yours.",
    heading: "Confirm your address",
    paragraphs: [
      "An account was made with this address. Confirm that it is yours, so that nobody else can use it.",
      "If you made no account, ignore this letter.",
    ],
    action: { label: "Confirm this address", url },
    reason: "You get this letter because this address was used to make an account.",
    origin,
  })
}

/** A person's words inside a sentence: no line breaks, control or direction characters, and short enough to stay a sentence. */
function oneLine(words: string): string {
  const line = words.replaceAll(/[\s\p{Cc}\u202A-\u202E\u2066-\u2069]+/gu, " ").trim()
  return line.length <= 200 ? line : `${line.slice(0, 199).toWellFormed().trimEnd()}…`
}
