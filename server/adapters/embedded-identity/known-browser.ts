import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import type { GenericEndpointContext } from "better-auth"

/** Seconds. */
const REMEMBERED = 365 * 24 * 60 * 60

/** Without cookies where a function of the provider was called, and no request came. */
type Call = Pick<GenericEndpointContext, "context"> &
  Partial<Pick<GenericEndpointContext, "getCookie" | "setCookie">>

/**
 * Marks the browser as one in which this account was opened. Guesses at the password from elsewhere are slowed together; a browser with a
 * mark has a count of its own, so that nobody can lock the owner out by guessing. It opens nothing.
 */
export function rememberBrowser(call: Call, authSecret: string, email: string): void {
  const id = knownBrowser(call, authSecret, email) ?? randomBytes(16).toString("base64url")
  const { name, attributes } = call.context.createAuthCookie("known_browser", { maxAge: REMEMBERED })
  call.setCookie?.(name, `${id}.${macOf(authSecret, email, id)}`, attributes)
}

/** The mark of a browser in which this account was opened before; null for every other. */
export function knownBrowser(call: Call, authSecret: string, email: string): string | null {
  const { name } = call.context.createAuthCookie("known_browser")
  const [, id, mac = ""] = /^([\w-]{22})\.([\w-]{43})$/.exec(call.getCookie?.(name) ?? "") ?? []
  if (id === undefined) return null
  return timingSafeEqual(Buffer.from(mac), Buffer.from(macOf(authSecret, email, id))) ? id : null
}

function macOf(authSecret: string, email: string, id: string): string {
  return createHmac("sha256", authSecret)
    .update(`known browser ${id} ${email.trim().toLowerCase()}`)
    .digest("base64url")
}
