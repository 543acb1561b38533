import type { KeyScope } from "#server/ports/identity-contract.ts"
import type { Channel, LiveQuery } from "#live/open"
import type { Viewer } from "#server/scope.ts"
import type { Operation } from "./implement.ts"

/**
 * What opens a domain to a limited API key: a scope; `files`, which is `files:read` to read and
 * `files:write` to change; `any` for every key; and `unlimited` for a key without limits only.
 */
export type DomainScope = KeyScope | "files" | "any" | "unlimited"

/** What a domain offers. All names begin with its own and a dot. */
export interface Domain {
  name: string
  scope: DomainScope
  queries: readonly LiveQuery<Viewer>[]
  operations?: readonly Operation[]
  /** For what is not stored, each beside one of the queries. */
  channels?: readonly Channel[]
}
