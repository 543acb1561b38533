import { and, eq, inArray } from "drizzle-orm"
import { jwtVerify } from "jose"
import * as v from "valibot"
import type { Database } from "#db/client.ts"
import { authAccount, authSession } from "#db/schema/auth.ts"
import { authProviderSession } from "#db/schema/single-sign-on.ts"
import type { RecordEvent } from "./auth-settings.ts"
import { endAccess } from "./earlier-holder.ts"
import { providerIdOf } from "./sso-find-account.ts"
import { storeOnce } from "./once.ts"
import type { OpenProvider } from "./sso-provider.ts"

const EVENT = "http://schemas.openid.net/event/backchannel-logout"

/** Seconds for which a logout token is valid and its id is remembered. */
const TOKEN_AGE = 120
const REMEMBERED = 10 * 60

const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]

/** OpenID Connect Back-Channel Logout 1.0, section 2.4. */
const LogoutToken = v.pipe(
  v.object({
    iat: v.number(),
    jti: v.pipe(v.string(), v.nonEmpty(), v.maxLength(1000)),
    sub: v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(255))),
    sid: v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(1000))),
    events: v.object({ [EVENT]: v.record(v.string(), v.unknown()) }),
    nonce: v.optional(v.never()),
  }),
  v.check(
    ({ sub, sid }) => sub !== undefined || sid !== undefined,
    "It names neither a person nor a session.",
  ),
)

/**
 * Ends what the provider's logout token names: with a session id, the sessions here that it opened;
 * without one, all sessions and API keys of the person. Triggers notify every process. Throws for
 * an invalid token, and for one that was received before.
 */
export async function endByLogoutToken(
  { db, record }: { db: Database; record: RecordEvent },
  provider: OpenProvider,
  token: string,
): Promise<void> {
  const { issuer, clientId } = provider
  const { payload } = await jwtVerify(token, await provider.keys(), {
    issuer,
    audience: clientId,
    algorithms: ALGORITHMS,
    maxTokenAge: TOKEN_AGE,
    clockTolerance: 30,
  })
  const { jti, sub, sid } = v.parse(LogoutToken, payload)
  await db.transaction(async (transaction) => {
    const isNew = await storeOnce(transaction, "sso-logout", `${issuer} ${jti}`, {
      value: "",
      seconds: REMEMBERED,
    })
    if (!isNew) throw new Error("This logout token was sent before.")
    if (sid !== undefined) {
      const begun = transaction
        .select({ id: authProviderSession.sessionId })
        .from(authProviderSession)
        .where(and(eq(authProviderSession.issuer, issuer), eq(authProviderSession.sid, sid)))
      const ended = await transaction
        .delete(authSession)
        .where(inArray(authSession.id, begun))
        .returning({ userId: authSession.userId })
      for (const userId of new Set(ended.map((each) => each.userId)))
        await record({ userId, event: "session-ended", facts: { issuer }, from: null }, transaction)
      return
    }
    const [account] = await transaction
      .select({ userId: authAccount.userId })
      .from(authAccount)
      .where(and(eq(authAccount.providerId, providerIdOf(issuer)), eq(authAccount.accountId, sub ?? "")))
    if (!account) return
    const { userId } = account
    await endAccess(transaction, userId)
    await record({ userId, event: "sessions-ended", facts: { issuer }, from: null }, transaction)
  })
}
