import { clerkMiddleware, createClerkClient, getAuth, rootAuthLoader } from "@clerk/react-router/server"
import { createRemoteJWKSet, decodeJwt, importSPKI, type JWTVerifyGetKey } from "jose"
import type { Log } from "#server/log.ts"
import type { Identity } from "#server/ports/identity.ts"
import { REALTIME_AUDIENCE } from "#server/ports/identity-contract.ts"
import type { Plan, RequestContext, Session } from "#server/ports/session.ts"
import { createDirectory, isNotFound } from "./clerk/directory.ts"
import { expireClerkCookies } from "./clerk/cookies.ts"
import { createNoticeReader } from "./clerk/notices.ts"
import { createTokenVerifier } from "./realtime-token.ts"

export interface ClerkSettings {
  origin: string
  production: boolean
  issuer: string
  secretKey: string
  publishableKey: string
  jwtKey: string | undefined
  apiUrl: string | undefined
  proxyUrl: string | undefined
  clerkJsUrl: string | undefined
  clerkUiUrl: string | undefined
  webhookSecret: string | undefined
  log: Log
}

type LoaderArgs = Parameters<typeof rootAuthLoader>[0]

/** The plan's name at Clerk. An organisation's plan of the same name is not the person's. */
const PRO = "user:pro"

/**
 * Clerk as the identity provider. Its accounts, passwords and plans live there; nothing is opened
 * here.
 */
export async function openClerkIdentity(settings: ClerkSettings): Promise<Identity> {
  const { origin, production, issuer, secretKey, publishableKey, log } = settings
  const jwtKey = settings.jwtKey?.replaceAll(String.raw`\n`, "\n")
  const client = createClerkClient({
    secretKey,
    publishableKey,
    ...(settings.apiUrl && { apiUrl: settings.apiUrl }),
  })
  const directory = createDirectory(client, log)
  const authenticate = clerkMiddleware({
    secretKey,
    publishableKey,
    ...(jwtKey && { jwtKey }),
    ...(settings.proxyUrl && { proxyUrl: settings.proxyUrl }),
    // Without it, the token of any sibling domain would be accepted.
    ...(production && { authorizedParties: [origin] }),
    signInUrl: "/sign-in",
    signUpUrl: "/sign-up",
    signInFallbackRedirectUrl: "/dashboard",
    signUpFallbackRedirectUrl: "/onboarding",
  })

  async function getSession(args: RequestContext): Promise<Session | null> {
    const authorization = args.request.headers.get("authorization")
    // Clerk ignores every other scheme and uses the cookie instead. A caller with a credential in
    // the header is judged by that alone.
    if (authorization !== null && !/^Bearer \S+$/.test(authorization)) return null
    const auth = await getAuth(args as LoaderArgs, { acceptsToken: ["session_token", "api_key"] })
    if (!auth.isAuthenticated || !auth.userId) return null
    if (auth.tokenType === "api_key") {
      const plan = await directory.planOf(auth.userId)
      return { userId: auth.userId, sessionId: null, plan, via: "api-key" }
    }
    const plan: Plan = auth.has({ plan: PRO }) ? "pro" : "free"
    const via = authorization === null ? "cookie" : "session-bearer"
    return { userId: auth.userId, sessionId: auth.sessionId, plan, via }
  }

  return {
    kind: "clerk",
    isAnonymous: ({ authorization, cookie = "" }) =>
      authorization === undefined && !/__(session|client|clerk)/.test(cookie),
    async middleware(args, next) {
      lendSettings(args, settings)
      const response = await authenticate(args as LoaderArgs, next)
      if (!response) throw new Error("Clerk's middleware gave no response.")
      return response
    },
    getSession,
    getUser: directory.getUser,
    updateUser: directory.updateUser,
    deleteUser: directory.deleteUser,
    ...(settings.webhookSecret && {
      readNotice: createNoticeReader(settings.webhookSecret, directory.forget),
    }),
    async issueRealtimeToken(args: RequestContext) {
      const auth = await getAuth(args as LoaderArgs)
      if (!auth.userId) return null
      const token = await auth.getToken({ template: REALTIME_AUDIENCE }).catch((error: unknown) => {
        if (isNotFound(error)) return null
        throw error
      })
      const expiry = token && decodeJwt(token).exp
      if (!token || !expiry) {
        throw new Error(
          `Clerk issued no token from the JWT template "${REALTIME_AUDIENCE}". Make one of this name: docs/identity.md says how.`,
        )
      }
      return { token, expiresAt: expiry * 1000 }
    },
    verifyRealtimeToken: createTokenVerifier({ issuer, keys: await openKeys({ ...settings, jwtKey }) }),
    async rootData(args) {
      const { clerkState } = (await rootAuthLoader(args as LoaderArgs)) as { clerkState: unknown }
      // Functions cannot be sent to the browser.
      return JSON.parse(JSON.stringify(clerkState)) as unknown
    },
    async signOut(args) {
      const session = await getSession(args)
      if (session?.sessionId) await client.sessions.revokeSession(session.sessionId)
      return expireClerkCookies(args.request, origin)
    },
  }
}

async function openKeys({ jwtKey, apiUrl, issuer, secretKey }: ClerkSettings): Promise<JWTVerifyGetKey> {
  if (jwtKey) {
    const key = await importSPKI(jwtKey, "RS256")
    return () => key
  }
  if (apiUrl) {
    return createRemoteJWKSet(new URL("/v1/jwks", apiUrl), {
      headers: { authorization: `Bearer ${secretKey}` },
    })
  }
  return createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`))
}

/**
 * Settings without an SDK option are looked up in the environment, and then here; ours may come
 * from the file `.env`.
 */
function lendSettings({ context }: RequestContext, { apiUrl, clerkJsUrl, clerkUiUrl }: ClerkSettings) {
  const env = {
    CLERK_TELEMETRY_DISABLED: "1",
    ...(apiUrl && { CLERK_API_URL: apiUrl }),
    ...(clerkJsUrl && { CLERK_JS_URL: clerkJsUrl }),
    ...(clerkUiUrl && { CLERK_UI_URL: clerkUiUrl }),
  }
  Object.assign(context, { env })
}
