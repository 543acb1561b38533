import { setTimeout as delay } from "node:timers/promises"
import { and, eq, isNull, sql } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { refusesWrites } from "#live/check"
import { authApiKey, authJwks, authSession, authUser, authVerification } from "#db/schema/auth.ts"
import { SIGN_IN_WAYS } from "#db/schema/security.ts"
import type { SecurityEvent } from "#server/accounts/security-contract.ts"
import type { Log } from "#server/log.ts"
import type { Identity } from "#server/ports/identity.ts"
import type { Plan, RequestContext, Session, Visit } from "#server/ports/session.ts"
import type { SsoProvider } from "#server/ports/single-sign-on.ts"
import type { AddressHooks } from "./embedded/address-change.ts"
import { API_KEY_PREFIX, API_PATH, createAuth, REALTIME_TOKEN_LIFE, type Auth } from "./embedded/auth.ts"
import type { AccountEmail, RecordEvent } from "./embedded/auth-settings.ts"
import { openBackground } from "./embedded/background.ts"
import { isOffered } from "./embedded/endpoints.ts"
import { createForms, createSend, outcomeOf, type Post } from "./embedded/forms.ts"
import { openJoinedWrites } from "./embedded/joined-writes.ts"
import { sessionOfKey } from "./embedded/key-session.ts"
import { watchOutages } from "./embedded/outages.ts"
import { openOwnAccount } from "./embedded/own-account.ts"
import { openPersonReader, openPictures } from "./embedded/people.ts"
import { requireArgon2 } from "./embedded/password.ts"
import { openSessionReader, secondFactorOf } from "./embedded/read-session.ts"
import { makeResetLink } from "./embedded/reset-link.ts"
import { ADDRESS_HEADER } from "./embedded/sender.ts"
import { setPlan } from "./embedded/set-plan.ts"
import { forgetUnreadableKeys, publicKeyOf } from "./embedded/signing-keys.ts"
import { openSingleSignOn } from "./embedded/single-sign-on.ts"
import { isSuspended, openSuspension } from "./embedded/suspension.ts"
import { createKeyLookup, createTokenVerifier } from "./realtime-token.ts"

const SESSION_COOKIE = "tideline.session_token="

/** Milliseconds. */
const EVEN_TIME = 500

interface EmbeddedSettings {
  db: Database
  log: Log
  hooks: AccountHooks
  origin: string
  issuer: string
  authSecret: string
  signup: "open" | "invited" | "closed" | "sso"
  sso: SsoProvider[]
  verification: "optional" | "required"
  secondFactor: "optional" | "required"
}

/** What accounts need from the product, each time in the given transaction. */
export interface AccountHooks extends AddressHooks {
  queuePasswordReset(db: Database, email: AccountEmail): Promise<unknown>
  queueAddressVerification(db: Database, email: AccountEmail): Promise<unknown>
  /** To the owner of an account that somebody tried to create again. */
  queueSignUpAttempted(
    db: Database,
    email: Pick<AccountEmail, "userId" | "email" | "language">,
  ): Promise<unknown>
  isInvited(db: Database, token: string, email: string): Promise<boolean>
  recordSecurityEvent(db: Database, event: SecurityEvent): Promise<void>
  /** Resolves to false if the invitation is for another address, or was used. */
  redeemInvitation(db: Database, token: string, email: string): Promise<boolean>
}

/**
 * The identity provider that runs in this process: better-auth on the schema `auth` of our
 * database. `close` waits for emails that are being written.
 */
export async function openEmbeddedIdentity(
  settings: EmbeddedSettings,
): Promise<Identity & { auth: Auth; close(): Promise<void> }> {
  const { origin, issuer, db, log, hooks } = settings
  requireArgon2()
  const background = openBackground(log)
  const outages = watchOutages()
  const joined = openJoinedWrites(db)
  // Present from the start, so that a rate begins at zero.
  const signIns: Record<string, number> = Object.fromEntries(SIGN_IN_WAYS.map((way) => [way, 0]))
  const record: RecordEvent = async (event, transaction) => {
    if (event.event === "signed-in" && event.way) signIns[event.way] = (signIns[event.way] ?? 0) + 1
    if (transaction) await hooks.recordSecurityEvent(transaction, event)
    else await joined.join((here) => hooks.recordSecurityEvent(here, event))
  }
  const auth = createAuth({
    ...settings,
    db: joined.db,
    mailResetLink: (email) => background.run(() => hooks.queuePasswordReset(db, email)),
    mailVerificationLink: (email) => joined.join((here) => hooks.queueAddressVerification(here, email)),
    mailSignUpAttempted: (email) => joined.join((here) => hooks.queueSignUpAttempted(here, email)),
    invitations: {
      isFor: (token, email) => hooks.isInvited(db, token, email),
      redeem: (token, email) => joined.join((here) => hooks.redeemInvitation(here, token, email)),
    },
    isSuspended: (userId) => joined.join((here) => isSuspended(here, userId)),
    record,
    afterResponse: background.run,
    noticeError: outages.notice,
  })
  const loadKeys = async () => ({ keys: (await db.select().from(authJwks)).map(publicKeyOf) })
  const readSession = await openSessionReader(auth, db)
  const renewed = new WeakMap<Request, string[]>()
  await forgetUnreadableKeys(auth, settings)

  async function getSession({ request, address }: RequestContext & Visit): Promise<Session | null> {
    const authorization = request.headers.get("authorization")
    if (authorization !== null) {
      const key = /^bearer +(\S+)$/i.exec(authorization)?.[1]
      if (!key?.startsWith(API_KEY_PREFIX)) return null
      return sessionOfKey(db, key, address)
    }
    const cookies = request.headers.get("cookie")
    if (!cookies?.includes(SESSION_COOKIE)) return null
    const session = await readSession(cookies)
    if (session === "suspended") return null
    if (session) return { ...session, via: "cookie" }

    const asked = outages.during(() =>
      auth.api.getSession({ headers: cookiesOf(request), returnHeaders: true }),
    )
    const found = await asked.catch((error: unknown) => error)
    if (found instanceof Error) {
      // A session is renewed once that can be written.
      const due = refusesWrites(found) ? await readSession(cookies, { due: true }) : null
      if (!due || due === "suspended") throw found
      return { ...due, via: "cookie" }
    }
    const { headers, response } = await asked
    if (!response) return null
    renewed.set(request, headers.getSetCookie())
    return {
      userId: response.user.id,
      sessionId: response.session.id,
      plan: planOf(response.user.plan),
      secondFactor: secondFactorOf(response.session.secondFactor, response.user.twoFactorEnabled),
      via: "cookie",
    }
  }

  async function handle({ request, address }: Visit): Promise<Response> {
    const path = new URL(request.url).pathname.slice(API_PATH.length)
    if (!isOffered(request.method, path)) return Response.json({ error: "Not found" }, { status: 404 })
    const headers = cookiesOf(request)
    headers.set(ADDRESS_HEADER, address)
    const { url, method, body, signal } = request
    const answer = () =>
      auth.handler(new Request(url, { method, headers, body, signal, ...(body && { duplex: "half" }) }))
    // Requests for an existing or a new account take a few more statements than others, so all take
    // the same time.
    const time = hidesAccounts(path) ? delay(EVEN_TIME) : null
    // If an account could not be created, better-auth returns 422, whatever the reason.
    const response = await outages.during(answer, ({ status }) => status === 500 || status === 422)
    await time
    return withRetryAfter(response)
  }

  function hidesAccounts(path: string) {
    if (path === "/sign-up/email") return settings.verification === "required"
    return path === "/request-password-reset"
  }

  const verifyToken = createTokenVerifier({ issuer, keys: createKeyLookup(loadKeys) })
  const send = createSend(handle, origin)
  const post: Post = async (...sent) => outcomeOf(await send(...sent))

  /**
   * When the session or the key expires, in ms; null for one that has ended, and infinity if there
   * is neither.
   */
  async function findEnd({ sessionId, keyId }: Pick<Session, "sessionId" | "keyId">): Promise<number | null> {
    if (keyId !== undefined) {
      const [key] = await db
        .select({ expiresAt: authApiKey.expiresAt })
        .from(authApiKey)
        .innerJoin(authUser, eq(authUser.id, authApiKey.referenceId))
        .where(and(eq(authApiKey.id, keyId), eq(authApiKey.enabled, true), isNull(authUser.suspendedAt)))
      return key ? endOf(key.expiresAt) : null
    }
    if (sessionId === null) return Infinity
    const [session] = await db
      .select({ expiresAt: authSession.expiresAt })
      .from(authSession)
      .where(eq(authSession.id, sessionId))
    return session ? endOf(session.expiresAt) : null
  }

  return {
    kind: "embedded",
    auth,
    isAnonymous: ({ authorization, cookie = "" }) =>
      authorization === undefined && !cookie.includes(SESSION_COOKIE),
    /** A session in use is renewed, and so must be its cookie. */
    async middleware({ request }, next) {
      const response = await next()
      const cookies = response.headers.has("set-cookie") ? [] : (renewed.get(request) ?? [])
      if (cookies.length === 0) return response
      const headers = new Headers(response.headers)
      for (const cookie of cookies) headers.append("set-cookie", cookie)
      // A cache in between would give the cookie to everybody, even if the response itself is
      // public.
      headers.set("cache-control", "private, no-store")
      return new Response(response.body, {
        status: response.status,
        statusText: response.statusText,
        headers,
      })
    },
    getSession,
    getUser: openPersonReader(db, origin),
    async updateUser(id, { name }) {
      const changed = await db
        .update(authUser)
        .set({ name, updatedAt: new Date() })
        .where(eq(authUser.id, id))
        .returning({ id: authUser.id })
      if (changed.length === 0)
        throw new Error(`The identity provider knows no user ${id}, so it cannot rename them.`)
    },
    setPlan,
    countSignIns: () => signIns,
    suspension: openSuspension(db),
    singleSignOn: openSingleSignOn({ ...settings, auth, record }),
    async isSuspended({ headers }) {
      if (headers.has("authorization")) return false
      return (await readSession(headers.get("cookie") ?? "")) === "suspended"
    },
    makePasswordLink: async (userId) => {
      const [account] = await db.select({ id: authUser.id }).from(authUser).where(eq(authUser.id, userId))
      return account ? makeResetLink(auth, origin, userId) : null
    },
    async deleteUser(id) {
      await db.transaction(async (tx) => {
        // Links to a new password and passkey challenges contain the person's id in a column
        // without a foreign key.
        await tx.delete(authVerification).where(sql`strpos(${authVerification.value}, ${id}) > 0`)
        await tx.delete(authUser).where(eq(authUser.id, id))
      })
    },
    async issueRealtimeToken(args) {
      const session = await getSession(args)
      if (!session) return null
      const issuedAt = Math.floor(Date.now() / 1000)
      const { userId, sessionId, plan } = session
      const via = session.via === "api-key" ? "api-key" : "session-bearer"
      const key = { key: session.keyId, scopes: session.keyScopes }
      const payload = { sub: userId, sid: sessionId, ...key, plan, via, iat: issuedAt }
      const { token } = await auth.api.signJWT({ body: { payload } })
      return { token, expiresAt: (issuedAt + REALTIME_TOKEN_LIFE) * 1000 }
    },
    async verifyRealtimeToken(token) {
      const claims = await verifyToken(token)
      const endsAt = await findEnd(claims)
      if (endsAt === null) throw new Error("The session or the key that the token came from has ended.")
      return { ...claims, endsAt }
    },
    isSessionValid: async (session) => (await findEnd(session)) !== null,
    rootData: async () => null,
    async signOut({ request, address }) {
      const headers = new Headers({ cookie: request.headers.get("cookie") ?? "", origin })
      const response = await handle({
        request: new Request(`${origin}${API_PATH}/sign-out`, { method: "POST", headers }),
        address,
      })
      const cookies = new Headers()
      for (const cookie of response.headers.getSetCookie()) cookies.append("set-cookie", cookie)
      return cookies
    },
    handle,
    forms: createForms(send, { origin, confirmsFirst: settings.verification === "required" }),
    ownAccount: openOwnAccount({ db, auth, log, origin, hooks, post, record, send }),
    pictures: openPictures({ db, origin }),
    close: background.settle,
  }
}

/**
 * The headers for better-auth, which must see no other credential than the cookie: our checks run
 * before a plugin could turn a header into a session. A caller with a credential in the header is
 * judged by that alone, so an invalid one does not fall back to a cookie.
 */
function cookiesOf(request: Request) {
  const headers = new Headers(request.headers)
  headers.delete(ADDRESS_HEADER)
  if (headers.has("authorization")) headers.delete("cookie")
  headers.delete("authorization")
  headers.delete("x-api-key")
  return headers
}

function endOf(expiresAt: Date | null): number | null {
  const end = expiresAt?.getTime() ?? Infinity
  return end > Date.now() ? end : null
}

function planOf(plan: unknown): Plan {
  return plan === "pro" ? "pro" : "free"
}

function withRetryAfter(response: Response) {
  const seconds = response.headers.get("x-retry-after")
  if (response.status !== 429 || seconds === null || response.headers.has("retry-after")) return response
  const headers = new Headers(response.headers)
  headers.set("retry-after", seconds)
  return new Response(response.body, { status: response.status, headers })
}
