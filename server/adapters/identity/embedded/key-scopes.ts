import * as v from "valibot"
import { KEY_SCOPES, type KeyScope } from "#server/ports/identity-contract.ts"

/** In better-auth's form for a key's permissions: lists by resource. */
const Permissions = v.pipe(v.string(), v.parseJson(), v.object({ tideline: v.array(v.picklist(KEY_SCOPES)) }))

/**
 * Null for a key without limits. Unknown permissions open nothing: a newer version may have written
 * them.
 */
export function readScopes(permissions: string | null): readonly KeyScope[] | null {
  if (permissions === null) return null
  const parsed = v.safeParse(Permissions, permissions)
  return parsed.success ? parsed.output.tideline : []
}

export function permissionsOf(scopes: readonly KeyScope[] | null) {
  return scopes === null ? {} : { permissions: { tideline: [...scopes] } }
}
