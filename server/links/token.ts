import { createHash, randomBytes } from "node:crypto"

/** More than 128 bits remain unknown to anyone who sees the hint. */
const TOKEN_BYTES = 20

/**
 * The secret last part of a link's URL, in base64url, with what is stored of it: a hash in hex, and
 * the last four characters, by which its owner recognises it.
 */
export function createLinkToken() {
  const token = randomBytes(TOKEN_BYTES).toString("base64url")
  return { token, tokenHash: hashLinkToken(token), hint: token.slice(-4) }
}

export function hashLinkToken(token: string): string {
  return createHash("sha256").update(token).digest("hex")
}

export function isLinkToken(token: string): boolean {
  return /^[\w-]{27}$/.test(token)
}
