import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import type { GenericEndpointContext } from "better-auth"
import { and, eq } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { authAccount, authUser } from "#db/schema/auth.ts"

/** Seconds. */
const REMEMBERED = 365 * 24 * 60 * 60

/** The name of its cookie. */
export const KNOWN_BROWSER = "known_browser"

interface Settings {
  authSecret: string
  db: Database
}

/** Without cookies if the server called a function of the provider and there is no request. */
type Call = Pick<GenericEndpointContext, "context"> &
  Partial<Pick<GenericEndpointContext, "getCookie" | "setCookie">>

/**
 * Marks the browser as one in which this account was opened. Guesses at the password from unknown
 * browsers share one count; a marked browser has its own, so that nobody can lock the owner out by
 * guessing. The mark opens nothing, and ends with the password.
 */
export async function rememberBrowser(call: Call, settings: Settings, email: string): Promise<void> {
  const id = (await knownBrowser(call, settings, email)) ?? randomBytes(16).toString("base64url")
  const { name, attributes } = call.context.createAuthCookie(KNOWN_BROWSER, { maxAge: REMEMBERED })
  call.setCookie?.(name, `${id}.${await macOf(settings, email, id)}`, attributes)
}

/**
 * The mark of a browser in which this account was opened with its present password; null for all
 * others.
 */
export async function knownBrowser(call: Call, settings: Settings, email: string): Promise<string | null> {
  const { name } = call.context.createAuthCookie(KNOWN_BROWSER)
  const [, id, mac = ""] = /^([\w-]{22})\.([\w-]{43})$/.exec(call.getCookie?.(name) ?? "") ?? []
  if (id === undefined) return null
  const expected = [await macOf(settings, email, id), await macOf(settings, email, id, "by address")]
  return expected.some((each) => timingSafeEqual(Buffer.from(mac), Buffer.from(each))) ? id : null
}

/**
 * Includes the hash of the password, so that a new password ends every mark. An earlier version
 * used the address, so that a new address ended them too.
 */
async function macOf(
  { authSecret, db }: Settings,
  email: string,
  id: string,
  before?: "by address",
): Promise<string> {
  const address = email.trim().toLowerCase()
  const [account] = await db
    .select({ userId: authUser.id, password: authAccount.password })
    .from(authUser)
    .leftJoin(authAccount, and(eq(authAccount.userId, authUser.id), eq(authAccount.providerId, "credential")))
    .where(eq(authUser.email, address))
  return createHmac("sha256", authSecret)
    .update(`known browser ${id} ${(!before && account?.userId) || address} ${account?.password ?? ""}`)
    .digest("base64url")
}
