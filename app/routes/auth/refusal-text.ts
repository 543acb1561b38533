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
  return problem === "too-many-attempts" ? { form: tooManyAttempts(retryAfter ?? 60) } : FORM_TEXTS[problem]
}

const FORM_TEXTS: Readonly<Record<Exclude<AccountProblem, "too-many-attempts">, Errors>> = {
  "wrong-credentials": {
    form: msg`That email address and password don't match. Check both, or reset the password.`,
  },
  "address-unconfirmed": {
    form: msg`Confirm your email address first. We've emailed you a link; any link from the last 24 hours works too.`,
  },
  "email-taken": {
    email: msg`An account with this email address already exists. Sign in, or reset its password.`,
  },
  "email-unfit": { email: msg`Enter an email address such as ada@example.org.` },
  "password-unfit": { password: msg`Choose a password of 10 to 128 characters.` },
  "password-guessable": {
    password: msg`This password is easy to guess. Choose a longer one, such as four unrelated words.`,
  },
  "link-spent": { form: msg`This link has been used or has expired. Request a new one.` },
  "code-wrong": { code: msg`This code is wrong or has been used. Enter the next code that the app shows.` },
  "factor-unreadable": {
    form: msg`Your second factor can't be checked any more, because this server's secret was changed. Ask its administrator.`,
  },
  "challenge-ended": { form: msg`This sign-in has expired. Go back and enter your password again.` },
  "factor-exists": {
    form: msg`Two-factor authentication is already on. You can manage it on the account page.`,
  },
  "passkey-unknown": { form: msg`The passkey wasn't accepted. Try again.` },
  "passkey-refused": { form: msg`The passkey wasn't accepted. Try again.` },
  "passkey-needed": { form: msg`Sign out, then sign in with your passkey. Then try again.` },
  "too-many-passkeys": { form: msg`You have ${MOST_PASSKEYS} passkeys. Remove one you don't use first.` },
  "sign-in-again": { form: msg`Sign out and sign in again, then try this within 15 minutes.` },
  "signup-closed": {
    form: msg`Sign-up is closed here. Join the waitlist to hear when it opens.`,
  },
  "signup-by-provider": {
    form: msg`Accounts are created by single sign-on here. Use one of the buttons.`,
  },
  "account-suspended": {
    form: msg`This account is suspended. Ask the administrator of this server to allow it again.`,
  },
  "address-at-provider": {
    form: msg`You sign in by single sign-on: your email address comes from your sign-in provider and can't be changed here.`,
  },
  "address-unchanged": { email: msg`This is your email address already.` },
  "another-site": {
    form: msg`This form was sent from another site. Open the page again and retry.`,
  },
}

/** Why a user is not signed in by a provider or with a passkey, and what to do about it. */
export const SIGN_IN_TEXTS: Readonly<Record<SignInRefusal, { title: Sentence; advice: Sentence }>> = {
  "unknown-provider": {
    title: msg`This way of signing in doesn't exist`,
    advice: msg`Choose one of the buttons on this page.`,
  },
  "provider-unreachable": {
    title: msg`The sign-in provider can't be reached`,
    advice: msg`Try again in a moment, or sign in another way.`,
  },
  cancelled: {
    title: msg`You cancelled signing in`,
    advice: msg`Start again when you're ready, or sign in another way.`,
  },
  "attempt-expired": {
    title: msg`This sign-in has expired or was started in another browser`,
    advice: msg`Start again here.`,
  },
  "response-refused": {
    title: msg`The sign-in provider's response couldn't be verified`,
    advice: msg`Try again. If it keeps happening, ask the administrator of this server to look at its log.`,
  },
  "address-unverified": {
    title: msg`Your email address isn't verified at the sign-in provider`,
    advice: msg`Verify it there, then sign in again.`,
  },
  "domain-refused": {
    title: msg`Your email address isn't one that may sign in this way`,
    advice: msg`Use an account of your organisation, or ask the administrator of this server.`,
  },
  "signup-closed": {
    title: msg`You have no account here, and sign-up is closed`,
    advice: msg`Ask the administrator of this server, or join the waitlist.`,
  },
  "account-suspended": {
    title: msg`This account is suspended`,
    advice: msg`Ask the administrator of this server to allow it again.`,
  },
  "address-unconfirmed": {
    title: msg`Confirm your email address first`,
    advice: msg`We've emailed you a link; any link from the last 24 hours works too.`,
  },
  "passkey-unknown": {
    title: msg`This passkey isn't known here`,
    advice: msg`It may have been removed from your account. Sign in another way, and delete it from your device.`,
  },
  "passkey-refused": {
    title: msg`The passkey wasn't accepted`,
    advice: msg`Try again. Your device has to ask for your fingerprint, face or PIN.`,
  },
  "too-many-attempts": { title: msg`Too many attempts`, advice: msg`Try again in a minute.` },
}

function tooManyAttempts(wait: number): Sentence {
  if (wait >= 90) {
    const minutes = Math.ceil(wait / 60)
    return msg`Too many attempts. Try again in ${plural(minutes, { one: "# minute", other: "# minutes" })}.`
  }
  const seconds = Math.max(1, Math.round(wait))
  return msg`Too many attempts. Try again in ${plural(seconds, { one: "# second", other: "# seconds" })}.`
}
