import * as v from "valibot"
import type { PasskeyAssertion } from "#server/ports/passkey-contract.ts"
import type { AccountForms, AccountOutcome, AccountProblem } from "#server/ports/account-forms.ts"
import type { Visit } from "#server/ports/session.ts"
import { API_PATH } from "./auth.ts"
import { CONFIRM_ADDRESS, VERIFY_PASSKEY } from "./calls.ts"
import { hasPasskeys } from "./passkeys.ts"
import { isTotp, normalizeCode } from "./second-factor.ts"
import { INVITATION_HEADER } from "./signup.ts"

type Handle = (visit: Visit) => Promise<Response>

export type Send = ReturnType<typeof createSend>
export type Post = (...sent: Parameters<Send>) => Promise<AccountOutcome>

interface FormSettings {
  origin: string
  confirmsFirst: boolean
}

/**
 * The account forms. `invitation` travels in a header, because the provider has no field for it.
 */
export function createForms(send: Send, { origin, confirmsFirst }: FormSettings): AccountForms {
  const post: Post = async (...sent) => outcomeOf(await send(...sent))
  return {
    async signUp(visit, { invitation, ...input }) {
      const more = invitation ? { [INVITATION_HEADER]: invitation } : {}
      const made = await post(visit, "/sign-up/email", input, more)
      if (!made.ok) return made
      if (!confirmsFirst) return { ...made, isSignedIn: true }
      // An invited person has proved the address. Nobody else learns whether the account existed.
      const { email, password } = input
      const entered = invitation ? await post(visit, "/sign-in/email", { email, password }) : null
      return entered?.ok ? { ...entered, isSignedIn: true } : { ...made, isSignedIn: false }
    },
    async signIn(visit, input) {
      const response = await send(visit, "/sign-in/email", input)
      if (!response.ok) return refusalOf(response)
      const { twoFactorRedirect: needsCode } = v.parse(SignedIn, await response.json())
      return { ok: true, headers: cookiesOf(response), needsCode }
    },
    ...(hasPasskeys(origin) && {
      enterWithPasskey: (visit: Visit, response: PasskeyAssertion) =>
        post(visit, VERIFY_PASSKEY, { response }),
    }),
    enterCode(visit, { code: typed, trust }) {
      const code = normalizeCode(typed)
      const path = isTotp(code) ? "/two-factor/verify-totp" : "/two-factor/verify-backup-code"
      return post(visit, path, { code, trustDevice: trust })
    },
    requestPasswordReset: (visit, input) => post(visit, "/request-password-reset", input),
    resetPassword: (visit, { token, password }) =>
      post(visit, "/reset-password", { token, newPassword: password }),
    async confirmAddress(visit, input) {
      const request = input.password === undefined ? openedFromMail(visit.request, origin) : visit.request
      const response = await send({ ...visit, request }, CONFIRM_ADDRESS, input)
      if (!response.ok) return refusalOf(response)
      return { ok: true, headers: cookiesOf(response), ...v.parse(Confirmation, await response.json()) }
    },
  }
}

const SignedIn = v.object({ twoFactorRedirect: v.optional(v.boolean(), false) })

const Confirmation = v.object({
  state: v.picklist(["confirmed", "confirmed-before", "password-needed"]),
  email: v.string(),
})

/**
 * A link opened from a mail program does not have one of our pages as its origin. Its token is the
 * proof.
 */
function openedFromMail({ url, headers: given }: Request, origin: string): Request {
  const headers = new Headers({ origin })
  for (const name of ["accept-language", "cookie", "user-agent"]) {
    const value = given.get(name)
    if (value !== null) headers.set(name, value)
  }
  return new Request(url, { headers })
}

/**
 * Sends a form through the provider's own HTTP handler and never through its functions, so that its
 * origin checks and rate limits apply.
 */
export function createSend(handle: Handle, origin: string) {
  return (visit: Visit, path: string, body: object, more = {}): Promise<Response> => {
    const headers = new Headers({ "content-type": "application/json", ...more })
    for (const name of PASSED_ON) {
      const value = visit.request.headers.get(name)
      if (value !== null) headers.set(name, value)
    }
    const request = new Request(origin + API_PATH + path, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    })
    return handle({ request, address: visit.address })
  }
}

/** The headers that the provider's checks use, and the reader's language. */
const PASSED_ON = [
  "accept-language",
  "cookie",
  "origin",
  "referer",
  "user-agent",
  "sec-fetch-site",
  "sec-fetch-mode",
  "sec-fetch-dest",
]

const PROBLEMS: Record<string, AccountProblem> = {
  INVALID_EMAIL_OR_PASSWORD: "wrong-credentials",
  INVALID_PASSWORD: "wrong-credentials",
  USER_ALREADY_EXISTS: "email-taken",
  USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: "email-taken",
  EMAIL_NOT_VERIFIED: "address-unconfirmed",
  INVALID_EMAIL: "email-unfit",
  PASSWORD_TOO_SHORT: "password-unfit",
  PASSWORD_TOO_LONG: "password-unfit",
  PASSWORD_TOO_COMMON: "password-guessable",
  INVALID_TOKEN: "link-spent",
  INVALID_CODE: "code-wrong",
  INVALID_BACKUP_CODE: "code-wrong",
  FACTOR_UNREADABLE: "factor-unreadable",
  INVALID_TWO_FACTOR_COOKIE: "challenge-ended",
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: "challenge-ended",
  TOTP_NOT_ENABLED: "challenge-ended",
  BACKUP_CODES_NOT_ENABLED: "challenge-ended",
  TOTP_ALREADY_ENABLED: "factor-exists",
  PASSKEY_NOT_FOUND: "passkey-unknown",
  CHALLENGE_NOT_FOUND: "passkey-refused",
  AUTHENTICATION_FAILED: "passkey-refused",
  USER_NOT_VERIFIED: "passkey-refused",
  PASSKEY_NEEDED: "passkey-needed",
  SIGNUP_CLOSED: "signup-closed",
  SIGNUP_BY_PROVIDER: "signup-by-provider",
  ACCOUNT_SUSPENDED: "account-suspended",
}

export async function outcomeOf(response: Response): Promise<AccountOutcome> {
  return response.ok ? { ok: true, headers: cookiesOf(response) } : refusalOf(response)
}

export async function refusalOf(response: Response): Promise<AccountOutcome & { ok: false }> {
  const { status } = response
  const { code, message } = (await response.json().catch(() => ({}))) as { code?: string; message?: string }
  const retryAfter = Number(response.headers.get("retry-after") ?? NaN)
  const problem = problemOf(status, code)
  if (!problem)
    throw new Error(`The identity provider answered ${status} ${code ?? ""} to a form: ${message ?? ""}`)
  return { ok: false, problem, status, retryAfter: Number.isFinite(retryAfter) ? retryAfter : null }
}

function problemOf(status: number, code = ""): AccountProblem | null {
  if (status === 429) return "too-many-attempts"
  return (
    PROBLEMS[code] ??
    (status === 403 ? "another-site" : status === 400 && code === "VALIDATION_ERROR" ? "email-unfit" : null)
  )
}

export function cookiesOf(response: Response) {
  const headers = new Headers()
  for (const cookie of response.headers.getSetCookie()) headers.append("set-cookie", cookie)
  return headers
}
