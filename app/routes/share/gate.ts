import { msg } from "@lingui/core/macro"
import { data, redirect, type HeadersFunction, type RouterContextProvider } from "react-router"
import { readForm } from "#server/http/form.ts"
import { orErrorPage } from "#server/http/or-error-page.ts"
import { servicesOf } from "#server/http/scope.ts"
import { SECRET_ADDRESS } from "#server/http/secret-address.ts"
import { networkIn } from "#server/http/visit.ts"
import { UnlockLink } from "#server/links/contract.ts"
import { unlockLink } from "#server/links/visits.ts"
import { rateLimitHeaders } from "#server/transport/rate-limit.ts"

/** The URL is the secret, so it is sent to no other site and stored in no cache. */
export const secretHeaders: HeadersFunction = ({ actionHeaders }) => {
  const ours = new Headers(actionHeaders)
  for (const [name, value] of Object.entries(SECRET_ADDRESS)) ours.set(name, value)
  ours.set("X-Robots-Tag", "noindex, nofollow")
  return ours
}

interface Visit {
  context: Readonly<RouterContextProvider>
  request: Request
  params: { token: string }
}

/** Leads a visitor who enters the password of a link back to its page. */
export async function unlock(
  target: Parameters<typeof unlockLink>[1],
  { context, request, params: { token } }: Visit,
) {
  const form = await readForm(request, UnlockLink)
  if (!form.ok) return data({ error: Object.values(form.errors)[0] }, { status: form.status })
  const guess = { password: form.value.password, network: networkIn(context) }
  const answer = await orErrorPage(() => unlockLink(servicesOf(context), target, token, guess, request))
  if ("limit" in answer) {
    const error = msg`Too many attempts. Try again in ten minutes.`
    return data({ error }, { status: 429, headers: rateLimitHeaders(answer.limit) })
  }
  if (answer.cookie === null) return data({ error: msg`That password is wrong.` }, { status: 403 })
  const headers = { "Set-Cookie": answer.cookie, "Cache-Control": "no-store" }
  return redirect(`${target.path}/${token}`, { status: 303, headers })
}
