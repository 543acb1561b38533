import { data, type RouterContextProvider } from "react-router"
import { findStanding } from "#server/operator/access.ts"
import type { FullScope } from "#server/scope.ts"
import { requireScope } from "./scope.ts"

const UNPROVEN =
  "Your email address is listed as an operator's, but access to its mailbox alone is not enough. On the server, run npm run user -- reset-password with your email address, open the link it prints, and choose a password."

/** As `requireScope`, for operators. For everybody else who is signed in there is no such page. */
export async function requireOperatorScope(context: Readonly<RouterContextProvider>): Promise<FullScope> {
  const scope = await requireScope(context)
  const standing = await findStanding(scope)
  if (standing === "none") throw data(null, { status: 404 })
  if (standing === "unproven") throw data(UNPROVEN, { status: 403 })
  return scope
}
