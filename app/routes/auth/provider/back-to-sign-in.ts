import { redirect } from "react-router"
import type { SsoRefusal } from "#server/accounts/contract.ts"

/** The sign-in page describes what went wrong; nothing that the provider sent is shown. */
export function backToSignIn(problem: SsoRefusal): Response {
  return redirect(`/sign-in?${new URLSearchParams({ problem })}`, {
    headers: { "cache-control": "private, no-store" },
  })
}
