import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"
import type { Decrypter, Identity } from "age-encryption"

// Files of the age format: https://age-encryption.org/v1. The library does everything about keys: the
// header. The payload is ciphered here, because Node's own cipher needs a third of the time of the
// library's, on the thread that serves people.

/** Encrypted bytes, and what this process needs to decrypt the same bytes again. */
export interface Encrypted {
  bytes: AsyncIterable<Uint8Array>
  opener: Decrypter
}

/** Encrypts for all of the recipients (`age1...`): each of them can decrypt alone. */
export async function encrypt(
  recipients: readonly string[],
  plain: AsyncIterable<Uint8Array>,
): Promise<Encrypted> {
  const { Encrypter } = await import("age-encryption")
  const encrypter = new Encrypter()
  for (const recipient of recipients) encrypter.addRecipient(recipient)
  let fileKey = new Uint8Array()
  encrypter.addRecipient({
    wrapFileKey(key) {
      fileKey = Uint8Array.from(key)
      return []
    },
  })
  const empty = await encrypter.encrypt(new Uint8Array())
  // What follows the header of no bytes is a nonce and a tag.
  const header = empty.subarray(0, empty.byteLength - NONCE_SIZE - TAG_SIZE)
  return {
    bytes: encipher(header, fileKey, plain),
    opener: await openerOf({ unwrapFileKey: () => fileKey }),
  }
}

/** Decrypts with the first identity that fits: `AGE-SECRET-KEY-1...`. */
export async function openerOf(...identities: (string | Identity)[]): Promise<Decrypter> {
  const { Decrypter } = await import("age-encryption")
  const decrypter = new Decrypter()
  for (const identity of identities) decrypter.addIdentity(identity)
  return decrypter
}

/**
 * Decrypts what `encrypt`, or another program of that format, encrypted. Throws `Damaged` if a byte
 * was changed, added or removed, and an error if `opener` does not fit.
 */
export async function* decrypt(
  opener: Decrypter,
  encrypted: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const reader = createReader(encrypted)
  try {
    const fileKey = await opener.decryptHeader(await readHeader(reader))
    const { value: nonce } = await reader.take(NONCE_SIZE)
    const key = payloadKey(fileKey, nonce)
    for (let index = 0; ; index++) {
      const { value, isLast } = await reader.take(CHUNK_SIZE + TAG_SIZE)
      const plain = decipherChunk(key, chunkNonce(index, isLast), value)
      if (plain.byteLength === 0 && index > 0) throw new Damaged()
      yield plain
      if (isLast) return
    }
  } finally {
    await reader.close()
  }
}

/** Has the code by which a read error is recognised as a loss of the bytes. */
export class Damaged extends Error {
  readonly code = "EBADMSG"

  constructor(options?: ErrorOptions) {
    super("The encrypted bytes are damaged.", options)
    this.name = "Damaged"
  }
}

const CIPHER = "chacha20-poly1305"
/** Bytes. */
const CHUNK_SIZE = 64 * 1024
const NONCE_SIZE = 16
const TAG_SIZE = 16
const LONGEST_HEADER = 64 * 1024

async function* encipher(header: Uint8Array, fileKey: Uint8Array, plain: AsyncIterable<Uint8Array>) {
  const nonce = randomBytes(NONCE_SIZE)
  const key = payloadKey(fileKey, nonce)
  yield header
  yield nonce
  const chunks = createReader(plain)
  for (let index = 0; ; index++) {
    const { value, isLast } = await chunks.take(CHUNK_SIZE)
    const cipher = createCipheriv(CIPHER, key, chunkNonce(index, isLast), { authTagLength: TAG_SIZE })
    const text = cipher.update(value)
    cipher.final()
    yield Buffer.concat([text, cipher.getAuthTag()])
    if (isLast) return
  }
}

function decipherChunk(key: Uint8Array, nonce: Buffer, chunk: Buffer): Buffer {
  if (chunk.byteLength < TAG_SIZE) throw new Damaged()
  const cipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_SIZE })
  cipher.setAuthTag(chunk.subarray(-TAG_SIZE))
  const plain = cipher.update(chunk.subarray(0, -TAG_SIZE))
  try {
    cipher.final()
  } catch (error) {
    throw new Damaged({ cause: error })
  }
  return plain
}

function payloadKey(fileKey: Uint8Array, nonce: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", fileKey, nonce, "payload", 32))
}

/** Eleven bytes that count the chunks, and one that marks the last. */
function chunkNonce(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUIntBE(index, 5, 6)
  nonce[11] = isLast ? 1 : 0
  return nonce
}

/** The text up to and including the line that begins with three dashes. */
async function readHeader(reader: Reader): Promise<Uint8Array> {
  let header = Buffer.alloc(0)
  for (;;) {
    const { value, isLast } = await reader.take(HEADER_STEP)
    header = Buffer.concat([header, value])
    const dashes = header.indexOf("\n--- ")
    const end = dashes < 0 ? -1 : header.indexOf("\n", dashes + 1)
    if (end >= 0) {
      reader.giveBack(header.subarray(end + 1))
      return header.subarray(0, end + 1)
    }
    if (isLast || header.byteLength > LONGEST_HEADER) throw new Damaged()
  }
}

const HEADER_STEP = 1024

type Reader = ReturnType<typeof createReader>

/** Reads so many bytes at a time, whatever the sizes of the pieces that arrive. */
function createReader(bytes: AsyncIterable<Uint8Array>) {
  const iterator = bytes[Symbol.asyncIterator]()
  let held: Buffer[] = []
  let size = 0
  let isEnded = false
  return {
    /** `size` bytes, or fewer at the end. `isLast` says that nothing follows. */
    async take(wanted: number): Promise<{ value: Buffer; isLast: boolean }> {
      // One more, to know whether these are the last ones.
      while (size <= wanted && !isEnded) {
        const next = await iterator.next()
        if (next.done) isEnded = true
        // The owner of the bytes may use their memory again.
        else add(Buffer.from(next.value))
      }
      const all = held.length === 1 && held[0] ? held[0] : Buffer.concat(held)
      const value = all.subarray(0, wanted)
      held = [all.subarray(value.byteLength)]
      size = all.byteLength - value.byteLength
      return { value, isLast: isEnded && size === 0 }
    },
    giveBack(value: Buffer) {
      held.unshift(value)
      size += value.byteLength
    },
    close: async () => void (await iterator.return?.()),
  }

  function add(chunk: Buffer) {
    held.push(chunk)
    size += chunk.byteLength
  }
}
