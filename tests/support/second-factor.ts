import { createHmac } from "node:crypto"
import { postJson } from "./people.ts"

type Send = (path: string, init?: RequestInit) => Promise<Response>

export interface Authenticator {
  recoveryCodes: string[]
  /**
   * A code that it has not shown before: of this half minute, or of the next, which is accepted too.
   * Either stays valid for half a minute. Throws when both were shown.
   */
  code(): string
  /** The code that it showed last. */
  lastCode(): string
  /** The code of that many half minutes from now; a negative number is of the past. */
  codeAt(halfMinutes: number): string
}

/**
 * Sets up an authenticator app in the browser of a signed-in user, which takes one of its codes. An
 * account of an external provider has no password.
 */
export async function addSecondFactor(browser: Send, password?: string): Promise<Authenticator> {
  const begun = await postJson(browser, "/api/auth/two-factor/enable", password ? { password } : {})
  if (!begun.ok) throw new Error(`No second factor was begun: ${begun.status} ${await begun.text()}`)
  const { totpURI, backupCodes } = (await begun.json()) as { totpURI: string; backupCodes: string[] }
  const app = openAuthenticator(totpURI, backupCodes)
  const confirmed = await postJson(browser, "/api/auth/two-factor/verify-totp", { code: app.code() })
  if (!confirmed.ok) throw new Error(`The code was refused: ${confirmed.status} ${await confirmed.text()}`)
  return app
}

/**
 * What an app makes of the URL in a QR code: RFC 6238, implemented separately from the code under
 * test.
 */
export function openAuthenticator(uri: string, recoveryCodes: string[] = []): Authenticator {
  const key = decodeBase32(new URL(uri).searchParams.get("secret") ?? "")
  let shown = 0
  return {
    recoveryCodes,
    code() {
      const now = Math.floor(Date.now() / 30_000)
      if (shown > now) throw new Error("The codes of this half minute and the next were shown.")
      shown = Math.max(shown + 1, now)
      return codeOf(key, shown)
    },
    lastCode: () => codeOf(key, shown),
    codeAt: (halfMinutes) => codeOf(key, Math.floor(Date.now() / 30_000) + halfMinutes),
  }
}

function codeOf(key: Buffer, halfMinute: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(halfMinute))
  const mac = createHmac("sha1", key).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 15
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0")
}

function decodeBase32(text: string): Buffer {
  const bits = text
    .split("")
    .map((digit) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(digit).toString(2).padStart(5, "0"))
    .join("")
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}
