import { randomBytes } from "node:crypto"
import { isAPIError } from "better-auth/api"
import { parseCookies } from "better-call"
import { eq } from "drizzle-orm"
import * as client from "openid-client"
import * as v from "valibot"
import type { Database } from "#db/client.ts"
import { isOutage } from "#live/check"
import { authProviderSession } from "#db/schema/single-sign-on.ts"
import type { Log } from "#server/log.ts"
import type { Visit } from "#server/ports/session.ts"
import type { SingleSignOn, SsoProblem, SsoProvider } from "#server/ports/single-sign-on.ts"
import type { Auth } from "./auth.ts"
import { KNOWN_BROWSER } from "./known-browser.ts"
import type { RecordEvent } from "./auth-settings.ts"
import { ADDRESS_HEADER, senderOfVisit } from "./sender.ts"
import { Claims, findAccount } from "./sso-find-account.ts"
import { endByLogoutToken } from "./sso-logout-token.ts"
import { hashOf, storeOnce, takeOnce } from "./once.ts"
import { openProvider, type OpenProvider } from "./sso-provider.ts"

/** Binds an attempt to the browser that started it. */
const COOKIE = "tideline.sso"

/** Seconds within which the person has to sign in at the provider. */
const ATTEMPT_LIFE = 10 * 60

/** What the provider's response will be compared with. */
const Attempt = v.object({
  provider: v.string(),
  /** The hash of the browser's cookie. */
  browser: v.string(),
  nonce: v.string(),
  verifier: v.string(),
  target: v.string(),
})
type Attempt = v.InferOutput<typeof Attempt>

interface SsoSettings {
  auth: Auth
  db: Database
  log: Log
  origin: string
  signup: "open" | "invited" | "closed" | "sso"
  sso: SsoProvider[]
  record: RecordEvent
}

/**
 * Single sign-on with OpenID Connect: openid-client implements the protocol, better-auth keeps the
 * sessions.
 */
export function openSingleSignOn(settings: SsoSettings): SingleSignOn {
  const { auth, db, log, origin, signup, sso } = settings
  const providers = new Map(sso.map((provider) => [provider.name, openProvider(provider)]))

  return {
    providers: sso.map(({ name, label }) => ({ name, label })),

    async begin({ request }, name, target) {
      const provider = providers.get(name)
      if (!provider) return { problem: "unknown-provider" }
      const config = await provider.configure().catch((error: unknown) => {
        log.warn({ err: error, provider: name }, "a single sign-on provider cannot be reached")
        return null
      })
      if (!config) return { problem: "provider-unreachable" }
      // One cookie for all tabs of the browser.
      const browser = browserOf(request) ?? randomSecret()
      const [state, nonce, verifier] = [randomSecret(), randomSecret(), client.randomPKCECodeVerifier()]
      const attempt: Attempt = { provider: name, browser: hashOf(browser), nonce, verifier, target }
      await storeOnce(db, "sso-attempt", state, { value: JSON.stringify(attempt), seconds: ATTEMPT_LIFE })
      const location = client.buildAuthorizationUrl(config, {
        redirect_uri: callbackOf(provider),
        scope: "openid email profile",
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      })
      const isSecure = origin.startsWith("https:") ? "; Secure" : ""
      const cookie = `${COOKIE}=${browser}; Path=/sign-in; Max-Age=${ATTEMPT_LIFE}; HttpOnly; SameSite=Lax${isSecure}`
      return { location: location.href, headers: new Headers({ "set-cookie": cookie }) }
    },

    async finish(visit, name) {
      const provider = providers.get(name)
      if (!provider) return { problem: "unknown-provider" }
      const asked = new URL(visit.request.url)
      const state = asked.searchParams.get("state") ?? ""
      const taken = await takeOnce(db, "sso-attempt", state)
      const attempt = taken === null ? null : v.parse(Attempt, JSON.parse(taken))
      const browser = browserOf(visit.request)
      if (!attempt || attempt.provider !== name || browser === null || hashOf(browser) !== attempt.browser)
        return { problem: "attempt-expired" }
      const claims = await readClaims(provider, asked, state, attempt)
      if ("problem" in claims) return claims
      const from = senderOfVisit(visit)
      const account = await findAccount(settings, provider, claims, {
        isOpen: signup === "open" || signup === "sso",
        from,
      })
      if ("problem" in account) {
        log.info({ event: "sign-in by provider", provider: name, refused: account.problem }, "account")
        return account
      }
      return enter(visit, provider, account.userId, claims.sid ?? null, attempt.target)
    },

    async endByLogoutToken(name, token) {
      const provider = providers.get(name)
      if (!provider) return false
      try {
        await endByLogoutToken(settings, provider, token)
        return true
      } catch (error) {
        if (isOutage(error)) throw error
        log.warn({ err: error, provider: name }, "a logout token was refused")
        return false
      }
    },

    async findProviderOf({ sessionId }) {
      if (sessionId === null) return null
      const [begun] = await db
        .select({ issuer: authProviderSession.issuer })
        .from(authProviderSession)
        .where(eq(authProviderSession.sessionId, sessionId))
      return sso.find(({ issuer }) => issuer === begun?.issuer)?.name ?? null
    },

    async signOutAddress(name) {
      const config = await providers
        .get(name)
        ?.configure()
        .catch(() => null)
      if (!config?.serverMetadata().end_session_endpoint) return null
      const back = { post_logout_redirect_uri: `${origin}/`, client_id: config.clientMetadata().client_id }
      return client.buildEndSessionUrl(config, back).href
    },
  }

  function callbackOf({ name }: SsoProvider) {
    return `${origin}/sign-in/with/${name}/callback`
  }

  /** The provider's verified claims about the person, or the reason why they cannot be trusted. */
  async function readClaims(
    provider: OpenProvider,
    asked: URL,
    state: string,
    { nonce, verifier }: { nonce: string; verifier: string },
  ): Promise<Claims | { problem: SsoProblem }> {
    try {
      const config = await provider.configure()
      const tokens = await client.authorizationCodeGrant(
        config,
        new URL(callbackOf(provider) + asked.search),
        { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true },
      )
      const claims = tokens.claims()
      if (!claims) throw new Error("The provider sent no ID token.")
      // Some providers include the address only here.
      const more =
        claims["email"] === undefined && config.serverMetadata().userinfo_endpoint
          ? await client.fetchUserInfo(config, tokens.access_token, claims.sub)
          : {}
      return v.parse(Claims, { ...more, ...claims })
    } catch (error) {
      if (error instanceof client.AuthorizationResponseError && error.error === "access_denied")
        return { problem: "cancelled" }
      log.warn({ err: error, provider: provider.name }, "a single sign-on attempt was refused")
      return { problem: isNoAnswer(error) ? "provider-unreachable" : "response-refused" }
    }
  }

  async function enter(
    { request, address }: Visit,
    { issuer }: SsoProvider,
    userId: string,
    sid: string | null,
    target: string,
  ) {
    const headers = new Headers({ [ADDRESS_HEADER]: address })
    const userAgent = request.headers.get("user-agent")
    if (userAgent !== null) headers.set("user-agent", userAgent)
    const { name } = (await auth.$context).createAuthCookie(KNOWN_BROWSER)
    const mark = parseCookies(request.headers.get("cookie") ?? "").get(name)
    if (mark !== undefined) headers.set("cookie", `${name}=${mark}`)
    try {
      const entered = await auth.api.enterByProvider({
        body: { userId, issuer, sid },
        headers,
        returnHeaders: true,
      })
      const cookies = new Headers()
      for (const cookie of entered.headers.getSetCookie()) cookies.append("set-cookie", cookie)
      return { target, headers: cookies }
    } catch (error) {
      if (isAPIError(error) && error.body?.code === "ACCOUNT_SUSPENDED")
        return { problem: "account-suspended" as const }
      throw error
    }
  }
}

function randomSecret(): string {
  return randomBytes(32).toString("base64url")
}

function browserOf(request: Request): string | null {
  const value = parseCookies(request.headers.get("cookie") ?? "").get(COOKIE) ?? ""
  return /^[\w-]{43}$/.test(value) ? value : null
}

/** Whether the provider could not be reached, as opposed to having refused. */
function isNoAnswer(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return error.name === "TimeoutError" || error.name === "TypeError" || isNoAnswer(error.cause)
}
