import { and, eq, isNull } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { authApiKey, authUser } from "#db/schema/auth.ts"
import type { Session } from "#server/ports/session.ts"
import type { Auth } from "./auth.ts"
import { readScopes } from "./key-scopes.ts"

/**
 * The session of an API key, with its owner's present plan; null for a key that is unknown, expired
 * or disabled, or that belongs to a suspended account.
 */
export async function sessionOfKey(
  auth: Auth,
  db: Database,
  key: string,
  address: string,
): Promise<Session | null> {
  if (key.length > 200) return null
  const { valid, key: record } = await auth.api.verifyApiKey({ body: { key } })
  if (!valid || !record) return null
  const [known] = await db
    .select({
      plan: authUser.plan,
      permissions: authApiKey.permissions,
      lastAddress: authApiKey.lastAddress,
    })
    .from(authApiKey)
    .innerJoin(authUser, eq(authUser.id, authApiKey.referenceId))
    .where(and(eq(authApiKey.id, record.id), isNull(authUser.suspendedAt)))
  if (!known) return null
  if (known.lastAddress !== address)
    await db.update(authApiKey).set({ lastAddress: address }).where(eq(authApiKey.id, record.id))
  const keyScopes = readScopes(known.permissions)
  return {
    userId: record.referenceId,
    sessionId: null,
    keyId: record.id,
    ...(keyScopes && { keyScopes }),
    plan: known.plan,
    via: "api-key",
  }
}
