import { createHmac, timingSafeEqual } from "node:crypto"
import type { Config } from "#server/config.ts"

/** The kinds of links in waitlist emails. A link for a place says nothing about an account. */
type Purpose = "confirmation" | "invitation"

/** How many days a link is valid. */
export const LINK_LIFE = { confirmation: 7, invitation: 14 }

export interface LinkSettings {
  origin: string
  identity: Pick<Config["identity"], "authSecret">
}

/** The URL that confirms the address. `id` is the row's. */
export function confirmationLink(settings: LinkSettings, id: string): string {
  const query = new URLSearchParams({ token: sign(settings, "confirmation", id) })
  return `${settings.origin}/waitlist/confirm?${query}`
}

/** Where the invited person creates an account. */
export function invitationLink(settings: LinkSettings, id: string): string {
  const query = new URLSearchParams({ invitation: sign(settings, "invitation", id) })
  return `${settings.origin}/sign-up?${query}`
}

/**
 * The id of the row that one of our tokens names; null for any other token, and for an expired one.
 */
export function readToken(settings: LinkSettings, purpose: Purpose, token: string): string | null {
  const [, id = "", expires = "", mac = ""] = /^([\da-f-]{36})\.(\d{10})\.([\w-]{43})$/.exec(token) ?? []
  const expected = macOf(settings, purpose, `${id}.${expires}`)
  if (!timingSafeEqual(Buffer.from(mac.padEnd(43)), Buffer.from(expected))) return null
  return Number(expires) * 1000 > Date.now() ? id : null
}

function sign(settings: LinkSettings, purpose: Purpose, id: string): string {
  const expires = Math.floor(Date.now() / 1000) + LINK_LIFE[purpose] * 86_400
  return `${id}.${expires}.${macOf(settings, purpose, `${id}.${expires}`)}`
}

function macOf({ identity }: LinkSettings, purpose: Purpose, content: string): string {
  return createHmac("sha256", identity.authSecret)
    .update(`waitlist ${purpose} ${content}`)
    .digest("base64url")
}
