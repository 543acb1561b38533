import type { Database } from "#db/client.ts"
import { authJwks } from "#db/schema/auth.ts"
import type { Log } from "#server/log.ts"
import type { Auth } from "./auth.ts"

export function publicKeyOf({ id, alg, publicKey }: typeof authJwks.$inferSelect) {
  return { ...(JSON.parse(publicKey) as object), kty: "EC", kid: id, alg: alg ?? "ES256" }
}

/**
 * After AUTH_SECRET has changed, the signing keys cannot be decrypted. Tokens are valid for a
 * minute, so new keys do no harm.
 */
export async function forgetUnreadableKeys(auth: Auth, { db, log }: { db: Database; log: Log }) {
  try {
    await auth.api.signJWT({ body: { payload: { sub: "nobody" } } })
  } catch (error) {
    if (!(error instanceof Error && error.message.includes("decrypt"))) throw error
    await db.delete(authJwks)
    log.warn(
      "AUTH_SECRET has changed: everyone must sign in again, authenticator apps set up before are refused, and realtime tokens are signed with a new key",
    )
  }
}
