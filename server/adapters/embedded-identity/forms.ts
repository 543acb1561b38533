import type { AccountForms, AccountOutcome, AccountProblem, Visit } from "#server/ports/identity.ts"
import { API_PATH, INVITATION_HEADER } from "./auth.ts"

type Handle = (visit: Visit) => Promise<Response>

export type Post = ReturnType<typeof createPost>

/** The account forms. `invitation` is carried where the provider's own fields have no place for it. */
export function createForms(post: Post, { confirmsFirst }: { confirmsFirst: boolean }): AccountForms {
  return {
    async signUp(visit, { invitation, ...input }) {
      const more = invitation ? { [INVITATION_HEADER]: invitation } : {}
      const made = await post(visit, "/sign-up/email", input, more)
      if (!made.ok) return made
      if (!confirmsFirst) return { ...made, isSignedIn: true }
      // Whom an invitation let in has shown that the address is theirs. Nobody else is told whether there is an account now.
      const { email, password } = input
      const entered = invitation ? await post(visit, "/sign-in/email", { email, password }) : null
      return entered?.ok ? { ...entered, isSignedIn: true } : { ...made, isSignedIn: false }
    },
    signIn: (visit, input) => post(visit, "/sign-in/email", input),
    requestPasswordReset: (visit, input) => post(visit, "/request-password-reset", input),
    resetPassword: (visit, { token, password }) =>
      post(visit, "/reset-password", { token, newPassword: password }),
  }
}

/**
 * Sends a form through the provider's own HTTP handler and never through its functions, so that its checks of origin and its
 * rate limits hold for it as well.
 */
export function createPost(handle: Handle, origin: string) {
  return async (visit: Visit, path: string, body: object, more = {}): Promise<AccountOutcome> => {
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
    return outcomeOf(await handle({ request, address: visit.address }))
  }
}

/** What the provider's checks look at, and what says the reader's language. */
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
  INVALID_TOKEN: "link-spent",
  SIGNUP_CLOSED: "signup-closed",
}

async function outcomeOf(response: Response): Promise<AccountOutcome> {
  if (response.ok) return { ok: true, headers: cookiesOf(response) }
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

function cookiesOf(response: Response) {
  const headers = new Headers()
  for (const cookie of response.headers.getSetCookie()) headers.append("set-cookie", cookie)
  return headers
}
