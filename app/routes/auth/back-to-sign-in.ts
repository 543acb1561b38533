import { redirect } from "react-router"
import { SIGN_IN } from "#app/features/identity/addresses.ts"
import type { SignInRefusal } from "#server/accounts/contract.ts"

/** The sign-in page describes what went wrong; nothing that the provider sent is shown. */
export function backToSignIn(problem: SignInRefusal, target?: string): Response {
  const query = new URLSearchParams({ problem, ...(target && { redirect_url: target }) })
  return redirect(`${SIGN_IN}?${query}`, {
    headers: { "cache-control": "private, no-store" },
  })
}
