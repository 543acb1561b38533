import { domains } from "./domains.ts"
import { mutationsOf } from "./operations/implement.ts"
import type { KeyScope } from "./ports/identity-contract.ts"
import type { NamedCall } from "#live/open"

/** The live queries, mutations and channels that socket clients can use. */
export const liveQueries = domains.flatMap(({ queries }) => queries)
export const liveMutations = domains.flatMap(({ operations = [] }) => mutationsOf(operations))
export const liveChannels = domains.flatMap(({ channels = [] }) => channels)

/** The tables that live queries read. */
export const watchedTables = [...new Set(liveQueries.map(({ table }) => table))]

/** What opens a function to an API key: a scope, any key, or none but a key without limits. */
export type FunctionScope = KeyScope | "any" | "unlimited"

const scopes = new Map(
  domains.flatMap(({ name: domain, scope, queries, operations = [] }) =>
    [...queries, ...operations].map(({ name }) => {
      if (!name.startsWith(`${domain}.`)) throw new Error(`${name} is in the domain ${domain}.`)
      return [name, scope] as const
    }),
  ),
)

export function neededScope({ kind, name }: NamedCall): FunctionScope {
  const scope = scopes.get(name) ?? "unlimited"
  if (scope !== "files") return scope
  return kind === "query" ? "files:read" : "files:write"
}
