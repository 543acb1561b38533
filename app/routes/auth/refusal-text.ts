import { msg, plural } from "@lingui/core/macro"
import type { Sentence } from "#app/language/sentences.ts"
import type { AccountProblem, SignInRefusal } from "#server/accounts/contract.ts"
import { MOST_PASSKEYS } from "#server/accounts/passkey-contract.ts"

/** Where an error is shown: at a field, or above the form. */
type Errors = Partial<Record<"email" | "password" | "code" | "form", Sentence>>

/** The texts for a refused form. `retryAfter` is in seconds. */
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
    case "factor-unreadable":
      return {
        form: msg`Your second factor can't be checked any more, because this server's secret was changed. Ask its administrator.`,
      }
    case "challenge-ended":
      return { form: msg`This sign-in has expired. Go back and enter your password again.` }
    case "factor-exists":
      return { form: msg`Two-factor authentication is already on. You can manage it on the account page.` }
    case "passkey-unknown":
    case "passkey-refused":
      return { form: msg`The passkey wasn't accepted. Try again.` }
    case "passkey-needed":
      return { form: msg`Sign out, then sign in with your passkey. Then try again.` }
    case "too-many-passkeys":
      return { form: msg`You have ${MOST_PASSKEYS} passkeys. Remove one you don't use first.` }
    case "sign-in-again":
      return { form: msg`Sign out and sign in again, then try this within 15 minutes.` }
    case "signup-closed":
      return {
        form: msg`Sign-up is closed here. Join the waitlist to hear when it opens.`,
      }
    case "signup-by-provider":
      return {
        form: msg`Accounts are created by single sign-on here. Use one of the buttons.`,
      }
    case "too-many-attempts":
      return { form: tooManyAttempts(retryAfter ?? 60) }
    case "account-suspended":
      return {
        form: msg`This account is suspended. Ask the administrator of this server to allow it again.`,
      }
    case "address-at-provider":
      return {
        form: msg`You sign in by single sign-on: your email address comes from your sign-in provider and can't be changed here.`,
      }
    case "address-unchanged":
      return { email: msg`This is your email address already.` }
    case "another-site":
      return {
        form: msg`This form was sent from another site. Open the page again and retry.`,
      }
  }
}

/** Why a user is not signed in by a provider or with a passkey, and what to do about it. */
export function textForSignIn(problem: SignInRefusal): { title: Sentence; advice: Sentence } {
  switch (problem) {
    case "unknown-provider":
      return {
        title: msg`This way of signing in doesn't exist`,
        advice: msg`Choose one of the buttons on this page.`,
      }
    case "provider-unreachable":
      return {
        title: msg`The sign-in provider can't be reached`,
        advice: msg`Try again in a moment, or sign in another way.`,
      }
    case "cancelled":
      return {
        title: msg`You cancelled signing in`,
        advice: msg`Start again when you're ready, or sign in another way.`,
      }
    case "attempt-expired":
      return {
        title: msg`This sign-in has expired or was started in another browser`,
        advice: msg`Start again here.`,
      }
    case "response-refused":
      return {
        title: msg`The sign-in provider's response couldn't be verified`,
        advice: msg`Try again. If it keeps happening, ask the administrator of this server to look at its log.`,
      }
    case "address-unverified":
      return {
        title: msg`Your email address isn't verified at the sign-in provider`,
        advice: msg`Verify it there, then sign in again.`,
      }
    case "domain-refused":
      return {
        title: msg`Your email address isn't one that may sign in this way`,
        advice: msg`Use an account of your organisation, or ask the administrator of this server.`,
      }
    case "signup-closed":
      return {
        title: msg`You have no account here, and sign-up is closed`,
        advice: msg`Ask the administrator of this server, or join the waitlist.`,
      }
    case "account-suspended":
      return {
        title: msg`This account is suspended`,
        advice: msg`Ask the administrator of this server to allow it again.`,
      }
    case "address-unconfirmed":
      return {
        title: msg`Confirm your email address first`,
        advice: msg`We've emailed you a link; any link from the last 24 hours works too.`,
      }
    case "passkey-unknown":
      return {
        title: msg`This passkey isn't known here`,
        advice: msg`It may have been removed from your account. Sign in another way, and delete it from your device.`,
      }
    case "passkey-refused":
      return {
        title: msg`The passkey wasn't accepted`,
        advice: msg`Try again. Your device has to ask for your fingerprint, face or PIN.`,
      }
    case "too-many-attempts":
      return { title: msg`Too many attempts`, advice: msg`Try again in a minute.` }
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
