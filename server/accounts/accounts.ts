import { redirect } from "react-router"
import type { AccountForms } from "#server/ports/account-forms.ts"
import type { Scope } from "#server/scope.ts"

/** Throws a redirect to the sign-in page if the identity provider has its own forms. */
export function requireForms({ identity }: Scope<"identity">): AccountForms {
  if (!identity.forms) throw redirect("/sign-in")
  return identity.forms
}
