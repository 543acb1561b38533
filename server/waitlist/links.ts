import { createHmac, timingSafeEqual } from "node:crypto"
import type { Config } from "#server/config.ts"

/** What the links in emails of the waitlist carry. One for a place says nothing of an account. */
type Purpose = "confirmation" | "invitation"

/** Days that a link is good for. */
export const LINK_LIFE = { confirmation: 7, invitation: 14 }

export interface LinkSettings {
  origin: string
  identity: Pick<Config["identity"], "authSecret">
}

/** The URL in the email that confirms the address. `id` is the row's. */
export function confirmationLink(settings: LinkSettings, id: string): string {
  const query = new URLSearchParams({ token: sign(settings, "confirmation", id) })
  return `${settings.origin}/waitlist/confirm?${query}`
}

/** Where the invited address makes an account. */
export function invitationLink(settings: LinkSettings, id: string): string {
  const query = new URLSearchParams({ invitation: sign(settings, "invitation", id) })
  return `${settings.origin}/sign-up?${query}`
}

/** The id of the row that a token of ours names; null for any other, and for one that is too old. */
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
