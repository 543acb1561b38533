import { defaultKeyHasher } from "@better-auth/api-key"
import { and, eq, gt, isNull, or } from "drizzle-orm"
import * as v from "valibot"
import type { Database } from "#db/client.ts"
import { authApiKey, authUser } from "#db/schema/auth.ts"
import { KEY_SCOPES, type KeyScope } from "#server/ports/identity-contract.ts"
import type { Session } from "#server/ports/session.ts"

/** While a key is in use from one address, that is written down once in so many milliseconds. */
const NOTED = 60_000

/**
 * The session of an API key, with its owner's present plan; null for a key that is unknown, expired
 * or disabled, or that belongs to a suspended account. better-auth's own check writes to the key's
 * row at each request, and refuses the request where it cannot.
 */
export async function sessionOfKey(db: Database, key: string, address: string): Promise<Session | null> {
  if (key.length > 200) return null
  const now = new Date()
  const [found] = await db
    .select({
      keyId: authApiKey.id,
      userId: authUser.id,
      plan: authUser.plan,
      permissions: authApiKey.permissions,
      lastRequest: authApiKey.lastRequest,
      lastAddress: authApiKey.lastAddress,
    })
    .from(authApiKey)
    .innerJoin(authUser, eq(authUser.id, authApiKey.referenceId))
    .where(
      and(
        eq(authApiKey.key, await defaultKeyHasher(key)),
        eq(authApiKey.enabled, true),
        or(isNull(authApiKey.expiresAt), gt(authApiKey.expiresAt, now)),
        isNull(authUser.suspendedAt),
      ),
    )
  if (!found) return null
  const { permissions, lastRequest, lastAddress, ...session } = found
  // A clock may have been set back.
  const isRecent = lastRequest !== null && Math.abs(Number(now) - Number(lastRequest)) < NOTED
  if (!isRecent || lastAddress !== address)
    await db
      .update(authApiKey)
      .set({ lastRequest: now, lastAddress: address })
      .where(eq(authApiKey.id, found.keyId))
      .catch(() => {
        // It is for the owner to see, and no reason to refuse a request. The next one tries it again.
      })
  const keyScopes = readScopes(permissions)
  return { ...session, sessionId: null, ...(keyScopes && { keyScopes }), via: "api-key" }
}

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
