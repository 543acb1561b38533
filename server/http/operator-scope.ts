import { data, type RouterContextProvider } from "react-router"
import { dataOfReason } from "#server/errors.ts"
import { findStanding } from "#server/operations/operator.ts"
import { operatorFunctions } from "#server/operator/operations.ts"
import type { FullScope } from "#server/scope.ts"
import { urlContext } from "#server/context.ts"
import { performOperations } from "./perform-operations.ts"
import { secondFactorPath } from "./redirects.ts"
import { requireScope } from "./scope.ts"

export { findStanding }

/**
 * Like `requireScope`, for operators. For everybody else who is signed in, the page does not exist.
 */
export async function requireOperatorScope(context: Readonly<RouterContextProvider>): Promise<FullScope> {
  const scope = await requireScope(context)
  const standing = await findStanding(scope)
  if (standing === "none") throw data(null, { status: 404 })
  if (standing === "unproven") throw data(dataOfReason("operator-unproven"), { status: 403 })
  if (standing === "needs-factor") {
    const secondFactor = secondFactorPath(context.get(urlContext))
    throw data({ ...dataOfReason("operator-without-second-factor"), secondFactor }, { status: 403 })
  }
  return scope
}

const perform = performOperations(operatorFunctions, { redirects: 303 })

/** The action of their pages. */
export async function performActs(asked: Parameters<typeof perform>[0]) {
  await requireOperatorScope(asked.context)
  return perform(asked)
}

/** The action of a page without a form. */
export async function refuseForms({ context }: { context: Readonly<RouterContextProvider> }): Promise<never> {
  await requireOperatorScope(context)
  throw data(null, { status: 405, headers: { Allow: "GET, HEAD" } })
}
