import { createHmac, timingSafeEqual } from "node:crypto"
import type { Scope } from "#server/scope.ts"

/**
 * What a link's visitor has proved: that they know its password, or that a download of theirs was
 * counted.
 */
export type Shown = "password" | "download"

/** Seconds. A counted download may be continued for a day, in any number of parts. */
const LIFETIME: Record<Shown, number> = { password: 30 * 60, download: 24 * 60 * 60 }

/** A link, as its row has it. */
export interface Link {
  _id: string
  passwordHash: string | null
}

/** A `Set-Cookie` that the browser sends to this one link, at `path`, and to nothing else. */
export function linkCookie(
  { config }: Scope<"config">,
  shown: Shown,
  { link, path }: { link: Link; path: string },
): string {
  const age = LIFETIME[shown]
  const until = Date.now() + age * 1000
  const value = `${until}.${seal(config.identity.authSecret, shown, link, until)}`
  const secure = config.origin.startsWith("https:") ? "; Secure" : ""
  return `share_${shown}=${value}; Path=${path}; Max-Age=${age}; SameSite=Lax; HttpOnly${secure}`
}

/** Whether the request has the cookie, and it is ours, for this link, and at most a day old. */
export function hasShown({ config }: Scope<"config">, shown: Shown, link: Link, request: Request): boolean {
  const cookies = request.headers.get("cookie") ?? ""
  const [, until = "", given = ""] =
    new RegExp(`(?:^|;\\s*)share_${shown}=(\\d{1,15})\\.([\\w-]+)(?:;|$)`).exec(cookies) ?? []
  if (!(Number(until) > Date.now())) return false
  const expected = Buffer.from(seal(config.identity.authSecret, shown, link, Number(until)))
  const sent = Buffer.from(given)
  return expected.length === sent.length && timingSafeEqual(expected, sent)
}

function seal(secret: string, shown: Shown, { _id, passwordHash }: Link, until: number): string {
  return createHmac("sha256", secret)
    .update(JSON.stringify(["file share", shown, _id, passwordHash, until]))
    .digest("base64url")
}
