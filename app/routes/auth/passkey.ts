import { redirect, redirectDocument } from "react-router"
import * as v from "valibot"
import { SIGN_IN } from "#app/features/identity/addresses.ts"
import { requireForms } from "#server/accounts/accounts.ts"
import { SignInRefusal } from "#server/accounts/contract.ts"
import { PasskeySignIn } from "#server/accounts/passkey-contract.ts"
import { readForm } from "#server/http/form.ts"
import { safeTarget } from "#server/http/redirects.ts"
import { servicesOf } from "#server/http/scope.ts"
import { visitOf } from "#server/http/visit.ts"
import { backToSignIn } from "./back-to-sign-in.ts"
import type { Route } from "./+types/passkey.ts"

export const handle = { credential: "none" }

export function loader() {
  return redirect(SIGN_IN)
}

/** The form of the sign-in page that its script fills in with the authenticator's answer. */
export async function action({ context, request }: Route.ActionArgs) {
  const services = servicesOf(context)
  const { enterWithPasskey } = requireForms(services)
  const wanted = new URL(request.url).searchParams.get("redirect_url")
  const target = safeTarget(wanted, services.config.origin)
  const form = await readForm(request, PasskeySignIn)
  if (!form.ok || !enterWithPasskey) return backToSignIn("passkey-refused", target)
  const outcome = await enterWithPasskey(visitOf({ request, context }), form.value.response)
  if (!outcome.ok) return backToSignIn(v.parse(SignInRefusal, outcome.problem) ?? "passkey-refused", target)
  return redirectDocument(target, { status: 303, headers: outcome.headers })
}
