import { randomFillSync } from "node:crypto"

/** Bytes: 128 bits, as the content security policy recommends. */
const SIZE = 16

// Getting sixteen random bytes from the system takes as long as getting some thousands.
const drawn = Buffer.alloc(SIZE * 256)
let next = drawn.length

/** A random nonce, in Base64. */
export function createNonce(): string {
  if (next === drawn.length) {
    randomFillSync(drawn)
    next = 0
  }
  const nonce = drawn.toString("base64", next, next + SIZE)
  next += SIZE
  return nonce
}
