import { msg, plural } from "@lingui/core/macro"
import type { Sentence } from "#app/language/sentences.ts"
import type { AccountProblem } from "#server/accounts/contract.ts"

/** Where the words of a refusal stand: at a field, or over the form. */
type Errors = Partial<Record<"email" | "password" | "code" | "form", Sentence>>

/** What to tell somebody whose form was refused. `retryAfter` is in seconds. */
export function textFor({
  problem,
  retryAfter,
}: {
  problem: AccountProblem
  retryAfter: number | null
}): Errors {
  switch (problem) {
    case "wrong-credentials":
      return {
        form: msg`That email address and password don't match. Check both, or reset the password.`,
      }
    case "address-unconfirmed":
      return {
        form: msg`Confirm your email address first. We've emailed you a link; any link from the last 24 hours works too.`,
      }
    case "email-taken":
      return {
        email: msg`An account with this email address already exists. Sign in, or reset its password.`,
      }
    case "email-unfit":
      return { email: msg`Enter an email address such as ada@example.org.` }
    case "password-unfit":
      return { password: msg`Choose a password of 10 to 128 characters.` }
    case "password-guessable":
      return {
        password: msg`This password is easy to guess. Choose a longer one, such as four unrelated words.`,
      }
    case "link-spent":
      return { form: msg`This link has been used or has expired. Request a new one.` }
    case "code-wrong":
      return { code: msg`This code is wrong or has been used. Enter the next code that the app shows.` }
    case "challenge-ended":
      return { form: msg`This sign-in has expired. Go back and enter your password again.` }
    case "factor-exists":
      return { form: msg`Two-factor authentication is already on. You can manage it on the account page.` }
    case "signup-closed":
      return {
        form: msg`Sign-up is closed here. Join the waitlist to hear when it opens.`,
      }
    case "too-many-attempts":
      return { form: tooManyAttempts(retryAfter ?? 60) }
    case "account-suspended":
      return {
        form: msg`This account is suspended. Ask the administrator of this server to allow it again.`,
      }
    case "another-site":
      return {
        form: msg`This form was sent from another site. Open the page again and retry.`,
      }
  }
}

function tooManyAttempts(wait: number): Sentence {
  if (wait >= 90) {
    const minutes = Math.ceil(wait / 60)
    return msg`Too many attempts. Try again in ${plural(minutes, { one: "# minute", other: "# minutes" })}.`
  }
  const seconds = Math.max(1, Math.round(wait))
  return msg`Too many attempts. Try again in ${plural(seconds, { one: "# second", other: "# seconds" })}.`
}
