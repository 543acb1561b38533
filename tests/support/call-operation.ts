import { domains } from "#server/domains.ts"
import type { MutationScope, Scope } from "#server/scope.ts"

/** Calls a declared operation as HTTP does, after the input was parsed. */
export async function callOperation(
  name: string,
  scope: Partial<MutationScope> & Scope<"db" | "viewer">,
  input: object,
): Promise<unknown> {
  const operation = domains.flatMap(({ operations = [] }) => operations).find((each) => each.name === name)
  if (!operation) throw new Error(`There is no operation ${name}.`)
  // A test passes what the operation needs.
  return operation.run(scope as MutationScope, input, {})
}
