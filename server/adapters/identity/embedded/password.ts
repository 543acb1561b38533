import * as crypto from "node:crypto"
import { promisify } from "node:util"

/** OWASP's minimum for argon2id: 19 MiB, two passes, one thread. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 }
const SALT_BYTES = 16
const TAG_BYTES = 32

/**
 * Limits the cost parameters of a stored hash, so that a hand-written row cannot exhaust the
 * machine.
 */
const MOST = { memory: 262_144, passes: 10, parallelism: 4 }

type Cost = typeof COST

/** Throws where Node has no argon2: it came with version 24.7. */
export function requireArgon2() {
  if (typeof crypto.argon2 !== "function") {
    throw new Error(
      `Passwords need Node 24.7 or newer, and this is ${process.version}. Run npm ci, then npm start: it brings its own.`,
    )
  }
}

/** A hash in PHC form: `$argon2id$v=19$m=...,t=...,p=...$salt$hash`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = crypto.randomBytes(SALT_BYTES)
  const tag = await derive(password, salt, COST, TAG_BYTES)
  const { memory, passes, parallelism } = COST
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(tag)}`
}

export async function verifyPassword({
  hash,
  password,
}: {
  hash: string
  password: string
}): Promise<boolean> {
  const match = /^\$argon2id\$v=19\$m=(\d{1,6}),t=(\d{1,2}),p=(\d)\$([\w+/]{11,86})\$([\w+/]{16,86})$/.exec(
    hash,
  )
  if (!match) return false
  const [memory = 0, passes = 0, parallelism = 0] = match.slice(1, 4).map(Number)
  if (memory > MOST.memory || passes > MOST.passes || parallelism > MOST.parallelism) return false
  const [salt = Buffer.alloc(0), expected = Buffer.alloc(0)] = match
    .slice(4)
    .map((part) => Buffer.from(part, "base64"))
  const actual = await derive(password, salt, { memory, passes, parallelism }, expected.length)
  return crypto.timingSafeEqual(actual, expected)
}

const argon2 = promisify(crypto.argon2 ?? (() => {}))

function derive(password: string, nonce: Buffer, cost: Cost, tagLength: number) {
  // The same character can be typed as different bytes; NFKC makes them one.
  return argon2("argon2id", { message: password.normalize("NFKC"), nonce, tagLength, ...cost })
}

function encode(bytes: Buffer) {
  return bytes.toString("base64").replace(/=+$/, "")
}
