import { randomBytes } from "node:crypto"
import { buffer } from "node:stream/consumers"
import { Readable } from "node:stream"
import {
  Decrypter,
  Encrypter,
  generateHybridIdentity,
  generateX25519Identity,
  identityToRecipient,
} from "age-encryption"
import { describe, expect, it } from "vitest"
import { decrypt, encrypt, openerOf } from "#server/backup/age.ts"

/** Around the limits of the format's chunks. */
const SIZES = [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000]

describe("encrypted bytes", () => {
  it.each(SIZES)(
    "of %i bytes are those that any age program decrypts, and the other way round",
    async (size) => {
      const identity = await generateX25519Identity()
      const recipient = await identityToRecipient(identity)
      const plain = randomBytes(size)
      const ours = await encrypted([recipient], plain)
      const theirs = new Decrypter()
      theirs.addIdentity(identity)
      expect(Buffer.from(await theirs.decrypt(ours)).equals(plain)).toBe(true)
      const encrypter = new Encrypter()
      encrypter.addRecipient(recipient)
      expect((await decrypted(identity, await encrypter.encrypt(plain))).equals(plain)).toBe(true)
    },
  )

  it("are decrypted by each recipient, post-quantum ones too, and by nobody else", async () => {
    const identities = [await generateX25519Identity(), await generateHybridIdentity()]
    const recipients = await Promise.all(identities.map((identity) => identityToRecipient(identity)))
    const bytes = await encrypted(recipients, Buffer.from("Low water is at five."))
    for (const identity of identities)
      expect((await decrypted(identity, bytes)).toString()).toBe("Low water is at five.")
    await expect(decrypted(await generateX25519Identity(), bytes)).rejects.toThrow("no identity matched")
  })

  it("are refused if a byte was changed, removed or added anywhere", async () => {
    const identity = await generateX25519Identity()
    const bytes = await encrypted([await identityToRecipient(identity)], randomBytes(140_000))
    const payload = bytes.indexOf("\n--- ") + 49
    for (const at of [payload, payload + 70_000, bytes.length - 1]) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 1
      await expect(decrypted(identity, changed)).rejects.toMatchObject({ code: "EBADMSG" })
    }
    // Also at the end of a chunk.
    for (const end of [bytes.length - 1, payload + 16 + 65_552, payload + 16, payload, 30, 0])
      await expect(decrypted(identity, bytes.subarray(0, end))).rejects.toMatchObject({ code: "EBADMSG" })
    await expect(decrypted(identity, Buffer.concat([bytes, randomBytes(9)]))).rejects.toMatchObject({
      code: "EBADMSG",
    })
  })

  it("are produced as they are read, in whatever pieces they arrive", async () => {
    const identity = await generateX25519Identity()
    const recipient = await identityToRecipient(identity)
    let read = 0
    async function* source() {
      for (; read < 1000; read++) yield Buffer.alloc(7_001, read)
    }
    const { bytes, opener } = await encrypt([recipient], source())
    let size = 0
    for await (const chunk of decrypt(opener, bytes)) {
      size += chunk.byteLength
      // Not further ahead than two chunks of 64 KiB.
      expect(read * 7_001 - size).toBeLessThan(3 * 65_536)
    }
    expect(size).toBe(7_001_000)
  })
})

async function encrypted(recipients: string[], plain: Buffer): Promise<Buffer> {
  const { bytes } = await encrypt(recipients, Readable.from(pieces(plain)))
  return buffer(bytes)
}

async function decrypted(identity: string, bytes: Uint8Array): Promise<Buffer> {
  return buffer(decrypt(await openerOf(identity), Readable.from(pieces(bytes))))
}

function* pieces(bytes: Uint8Array) {
  for (let at = 0; at < bytes.byteLength; at += 10_007) yield bytes.subarray(at, at + 10_007)
}
