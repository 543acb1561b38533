import { data, type RouterContextProvider } from "react-router"
import { findStanding } from "#server/operator/access.ts"
import type { FullScope } from "#server/scope.ts"
import { urlContext } from "#server/context.ts"
import { secondFactorPath } from "./redirects.ts"
import { requireScope } from "./scope.ts"

const UNPROVEN =
  "Your email address is listed as an operator's, but access to its mailbox alone is not enough. On the server, run npm run user -- reset-password with your email address, open the link it prints, and choose a password."

const NEEDS_FACTOR =
  "Operators need two-factor authentication: this page opens only in a browser that has shown more than a password."

/**
 * Like `requireScope`, for operators. For everybody else who is signed in, the page does not exist.
 */
export async function requireOperatorScope(context: Readonly<RouterContextProvider>): Promise<FullScope> {
  const scope = await requireScope(context)
  const standing = await findStanding(scope)
  if (standing === "none") throw data(null, { status: 404 })
  if (standing === "unproven") throw data(UNPROVEN, { status: 403 })
  if (standing === "needs-factor") {
    const secondFactor = secondFactorPath(context.get(urlContext))
    throw data({ message: NEEDS_FACTOR, secondFactor }, { status: 403 })
  }
  return scope
}
