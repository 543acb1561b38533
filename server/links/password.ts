import { randomBytes, scrypt, timingSafeEqual } from "node:crypto"

/** 16 MiB and some tens of milliseconds for each guess. */
const COST = { N: 16_384, r: 8, p: 1 }
const HASH_BYTES = 32

/** `scrypt$<salt>$<hash>`, both base64url. */
export async function hashLinkPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const hash = await derive(password, salt)
  return `scrypt$${salt.toString("base64url")}$${hash.toString("base64url")}`
}

export async function isLinkPassword(stored: string, password: string): Promise<boolean> {
  const [, salt = "", hash = ""] = stored.split("$")
  const expected = Buffer.from(hash, "base64url")
  const given = await derive(password, Buffer.from(salt, "base64url"))
  return expected.length === given.length && timingSafeEqual(expected, given)
}

function derive(password: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // The same character can be entered as different bytes; NFKC makes them equal.
    scrypt(password.normalize("NFKC"), salt, HASH_BYTES, COST, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
}
