import { redirect } from "react-router"
import type { SignInRefusal } from "#server/accounts/contract.ts"

/** The sign-in page describes what went wrong; nothing that the provider sent is shown. */
export function backToSignIn(problem: SignInRefusal, target?: string): Response {
  const query = new URLSearchParams({ problem, ...(target && { redirect_url: target }) })
  return redirect(`/sign-in?${query}`, {
    headers: { "cache-control": "private, no-store" },
  })
}
