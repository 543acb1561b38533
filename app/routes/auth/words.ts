import { msg, plural } from "@lingui/core/macro"
import type { Sentence } from "#app/language/sentences.ts"
import type { AccountProblem } from "#server/accounts/contract.ts"

/** Where the words of a refusal stand: at a field, or over the form. */
type Errors = Partial<Record<"email" | "password" | "form", Sentence>>

/** What to tell somebody whose form was refused. `retryAfter` is in seconds. */
export function wordsFor({
  problem,
  retryAfter,
}: {
  problem: AccountProblem
  retryAfter: number | null
}): Errors {
  switch (problem) {
    case "wrong-credentials":
      return {
        form: msg`This e-mail address and password do not belong together. Check both, or reset the password.`,
      }
    case "address-unconfirmed":
      return {
        form: msg`Confirm your address first. A letter with the link is on its way to you; one of the last day does as well.`,
      }
    case "email-taken":
      return { email: msg`There is an account with this address already. Sign in, or reset its password.` }
    case "email-unfit":
      return { email: msg`Enter an e-mail address such as ada@example.org.` }
    case "password-unfit":
      return { password: msg`Choose a password of 10 to 128 characters.` }
    case "link-spent":
      return { form: msg`This link has been used, or is too old. Ask for a new one.` }
    case "signup-closed":
      return {
        form: msg`Sign-up is closed here. Leave your address on the waitlist, and you can be told when it opens.`,
      }
    case "too-many-attempts":
      return { form: tooManyAttempts(retryAfter ?? 60) }
    case "another-site":
      return {
        form: msg`This form came from another address than this site's own. Open the page again and retry.`,
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
