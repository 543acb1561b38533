import { createHash, createHmac, randomBytes } from "node:crypto"
import type { Config } from "#server/config.ts"

/** More than 128 bits remain unknown to anyone who sees the hint. */
const TOKEN_BYTES = 20

/**
 * The secret last part of a link's URL, in base64url, with what is stored of it: a hash in hex, and
 * the last four characters, by which its owner recognises it.
 */
export function createLinkToken() {
  return keptOf(randomBytes(TOKEN_BYTES))
}

/**
 * The same, always with the same secret part for one salt: it can be found again by a server that
 * has `authSecret`, and by nobody who has only the database.
 */
export function repeatLinkToken({ identity }: Pick<Config, "identity">, salt: string) {
  const bytes = createHmac("sha256", identity.authSecret).update(`link ${salt}`).digest()
  return keptOf(bytes.subarray(0, TOKEN_BYTES))
}

function keptOf(bytes: Uint8Array) {
  const token = Buffer.from(bytes).toString("base64url")
  return { token, tokenHash: hashLinkToken(token), hint: token.slice(-4) }
}

export function hashLinkToken(token: string): string {
  return createHash("sha256").update(token).digest("hex")
}

export function isLinkToken(token: string): boolean {
  return /^[\w-]{27}$/.test(token)
}
