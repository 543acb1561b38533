import { data, type RouterContextProvider } from "react-router"
import { isOperator } from "#server/operator/access.ts"
import type { FullScope } from "#server/scope.ts"
import { requireScope } from "./scope.ts"

/** As `requireScope`, for operators. For everybody else who is signed in there is no such page. */
export async function requireOperatorScope(context: Readonly<RouterContextProvider>): Promise<FullScope> {
  const scope = await requireScope(context)
  if (!(await isOperator(scope))) throw data(null, { status: 404 })
  return scope
}
