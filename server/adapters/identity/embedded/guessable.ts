import type { GenericEndpointContext } from "better-auth"
import { APIError, getSessionFromCtx } from "better-auth/api"
import { PASSWORD_LENGTH } from "#server/accounts/contract.ts"
import { callOf, CONFIRM_ADDRESS } from "./calls.ts"
import { findUserToConfirm } from "./confirm-address.ts"
import { scorePassword } from "./password-strength.ts"

/**
 * Characters. The time of an estimate grows faster than the length; a password that is hard to
 * guess up to here stays so.
 */
const MOST_JUDGED = 40

/** The first of zxcvbn's scores from 0 to 4 that means more than a million guesses. */
const LEAST_SCORE = 2

type Settings = Parameters<typeof findUserToConfirm>[0]

/**
 * Throws PASSWORD_TOO_COMMON for a new password that is in lists of leaked passwords, is a keyboard
 * pattern, a sequence or a repetition, or the person's own name or address.
 */
export async function refuseGuessable(
  call: GenericEndpointContext,
  settings: Settings,
  body: Record<string, unknown>,
): Promise<void> {
  const password = body[callOf(call.path).chosen ?? ""]
  if (typeof password !== "string") return
  if (password.length < PASSWORD_LENGTH.least || password.length > PASSWORD_LENGTH.most) return
  const person = await findPerson(call, settings, body)
  const about = [person?.email, person?.name].filter((text) => typeof text === "string")
  const parts = about.flatMap((text) => text.split(/[^\p{L}\p{N}]+/u))
  const known = [...about, ...parts].filter((text) => text.length > 2)
  if ((await scorePassword(password.slice(0, MOST_JUDGED), known)) >= LEAST_SCORE) return
  const message = "This password is easy to guess. Choose a longer one, such as four unrelated words."
  throw new APIError("BAD_REQUEST", { code: "PASSWORD_TOO_COMMON", message })
}

/**
 * The owner of the password. Only a sign-up sends the name and address; the others identify an
 * account by session or token.
 */
async function findPerson(
  call: GenericEndpointContext,
  settings: Settings,
  body: Record<string, unknown>,
): Promise<{ email?: unknown; name?: unknown } | null | undefined> {
  const { internalAdapter } = call.context
  switch (call.path) {
    case "/reset-password": {
      // Looked up without consuming it, so that the link still works after a refusal.
      const reset = await internalAdapter.findVerificationValue(`reset-password:${String(body["token"])}`)
      return reset && internalAdapter.findUserById(reset.value)
    }
    case "/change-password":
      return (await getSessionFromCtx(call))?.user
    case CONFIRM_ADDRESS:
      return findUserToConfirm(settings, String(body["token"]))
    default:
      return body
  }
}
