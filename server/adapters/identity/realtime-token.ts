import { createLocalJWKSet, errors, jwtVerify, type JSONWebKeySet, type JWTVerifyGetKey } from "jose"
import * as v from "valibot"
import type { RealtimeClaims } from "#server/ports/identity.ts"
import { KEY_SCOPES, REALTIME_AUDIENCE } from "#server/ports/identity-contract.ts"

/** Clerk marks its tokens by kind in this header; ours and others leave it out. */
const CLERK_TEMPLATE_TOKEN = "cl_B7d4PD222AAA"

const Claims = v.object({
  sub: v.pipe(v.string(), v.nonEmpty()),
  exp: v.number(),
  sid: v.optional(v.nullable(v.string())),
  key: v.optional(v.string()),
  // A token that this process cannot read must not open more than its key does.
  scopes: v.optional(v.array(v.picklist(KEY_SCOPES))),
  plan: v.fallback(v.picklist(["free", "pro"]), "free"),
  via: v.fallback(v.picklist(["session-bearer", "api-key"]), "session-bearer"),
})

/**
 * Checks realtime tokens, whichever provider signed them: signature, issuer (exactly), audience,
 * expiry and kind. The function it returns throws for any token it would not take.
 */
export function createTokenVerifier({ issuer, keys }: { issuer: string; keys: JWTVerifyGetKey }) {
  return async function verifyRealtimeToken(token: string): Promise<RealtimeClaims> {
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      issuer,
      audience: REALTIME_AUDIENCE,
      algorithms: ["RS256", "ES256"],
      requiredClaims: ["sub", "exp"],
      clockTolerance: 5,
    })
    const kind = protectedHeader["cat"]
    if (kind !== undefined && kind !== CLERK_TEMPLATE_TOKEN) {
      throw new errors.JWTInvalid("This is a token of another kind, not one made for realtime.")
    }
    const { sub, sid, key, scopes, plan, via, exp } = v.parse(Claims, payload)
    return {
      userId: sub,
      sessionId: sid ?? null,
      plan,
      via,
      expiresAt: exp * 1000,
      ...(key !== undefined && { keyId: key }),
      ...(scopes && { keyScopes: scopes }),
    }
  }
}

/** Milliseconds. A token with an invented key id must not make us ask the database every time. */
const RELOAD_AT_MOST_EVERY = 1000

/**
 * Keys from a set that may grow: a token signed by a key we do not know yet makes us look again.
 */
export function createKeyLookup(load: () => Promise<JSONWebKeySet>): JWTVerifyGetKey {
  let loadedAt = -Infinity
  let current: Promise<JWTVerifyGetKey> | null = null
  const reload = () => {
    loadedAt = performance.now()
    current = load().then(createLocalJWKSet)
    current.catch(() => (current = null))
    return current
  }
  return async (header, token) => {
    try {
      return await (
        await (current ?? reload())
      )(header, token)
    } catch (error) {
      const isStale = performance.now() - loadedAt >= RELOAD_AT_MOST_EVERY
      if (!(error instanceof errors.JWKSNoMatchingKey) || !isStale) throw error
      return (await reload())(header, token)
    }
  }
}
