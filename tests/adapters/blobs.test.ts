import { createHash, randomBytes } from "node:crypto"
import { mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { buffer } from "node:stream/consumers"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import type { Blobs } from "#server/ports/blobs.ts"
import { openDiskBlobs } from "#server/adapters/disk-blobs.ts"

/** What every blob store does. `open` gives an empty one. */
function describeBlobs(name: string, open: () => Promise<Blobs>) {
  describe(`${name}, as a blob store`, () => {
    let store: Blobs
    beforeEach(async () => {
      store = await open()
    })

    it("gives back the bytes it was given, and says their number and their sha-256", async () => {
      const bytes = randomBytes(700_001)
      const key = store.newKey()
      const stored = await store.put(key, inPieces(bytes, 64 * 1024), { limit: bytes.length })
      expect(stored).toEqual({
        size: 700_001,
        sha256: createHash("sha256").update(bytes).digest("hex"),
      })
      expect(Buffer.compare(await read(store, key), bytes)).toBe(0)
    })

    it("stores nothing at all as an empty blob", async () => {
      const key = store.newKey()
      expect(await store.put(key, inPieces(Buffer.alloc(0), 1), { limit: 0 })).toMatchObject({ size: 0 })
      expect(await read(store, key)).toHaveLength(0)
    })

    it("reads a range with both its ends", async () => {
      const key = store.newKey()
      await store.put(key, inPieces(Buffer.from("0123456789"), 3), { limit: 10 })
      expect((await read(store, key, { start: 2, end: 5 })).toString()).toBe("2345")
      expect((await read(store, key, { start: 9, end: 9 })).toString()).toBe("9")
    })

    it("keeps nothing past the limit, and stops asking for more", async () => {
      const key = store.newKey()
      let asked = 0
      async function* endless() {
        for (;;) {
          asked++
          yield randomBytes(1000)
        }
      }
      await expect(store.put(key, endless(), { limit: 5000 })).rejects.toMatchObject({ status: 413 })
      expect(asked).toBe(6)
      expect(await store.open(key)).toBeNull()
    })

    it("keeps nothing of a stream that breaks, and throws its error", async () => {
      const key = store.newKey()
      await expect(store.put(key, breakingOff(), { limit: 5000 })).rejects.toThrow("the line went dead")
      expect(await store.open(key)).toBeNull()
    })

    it("shows nothing of a blob before it is whole", async () => {
      const key = store.newKey()
      async function* observed() {
        yield randomBytes(1000)
        expect(await store.open(key)).toBeNull()
        yield randomBytes(1000)
      }
      await store.put(key, observed(), { limit: 5000 })
      expect(await read(store, key)).toHaveLength(2000)
    })

    it("removes a blob, and does not mind removing it again", async () => {
      const key = store.newKey()
      await store.put(key, inPieces(Buffer.from("gone soon"), 4), { limit: 100 })
      await store.remove(key)
      expect(await store.open(key)).toBeNull()
      await store.remove(key)
    })

    it("lets a reader finish what is removed under it", async () => {
      const bytes = randomBytes(2_000_000)
      const key = store.newKey()
      await store.put(key, inPieces(bytes, 256 * 1024), { limit: bytes.length })
      const stream = await openExisting(store, key)
      await store.remove(key)
      expect(await buffer(stream)).toHaveLength(bytes.length)
    })

    it("makes a key once, and takes none that it did not make", async () => {
      expect(new Set(Array.from({ length: 1000 }, () => store.newKey()))).toHaveLength(1000)
      for (const key of [
        "../../etc/passwd",
        "aa/bb/../../x",
        "/etc/passwd",
        "aa/bb/c\0d",
        "",
        store.newKey() + "/..",
      ]) {
        await expect(store.open(key)).rejects.toThrow("is no key of the blob store")
        await expect(store.put(key, inPieces(Buffer.from("x"), 1), { limit: 1 })).rejects.toThrow("is no key")
        await expect(store.remove(key)).rejects.toThrow("is no key")
      }
    })

    it("takes many blobs at once", async () => {
      const blobs = Array.from({ length: 40 }, () => ({ key: store.newKey(), bytes: randomBytes(50_000) }))
      await Promise.all(
        blobs.map(({ key, bytes }) => store.put(key, inPieces(bytes, 8192), { limit: 50_000 })),
      )
      for (const { key, bytes } of blobs) expect(Buffer.compare(await read(store, key), bytes)).toBe(0)
    })
  })
}

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "blobs-"))
})
afterEach(() => rm(directory, { recursive: true }))

describeBlobs("the local disk", () => openDiskBlobs(join(directory, "store")))

describe("the local disk", () => {
  it("leaves no temporary file behind, whatever became of the blob", async () => {
    const store = await openDiskBlobs(directory)
    await store.put(store.newKey(), inPieces(randomBytes(10), 5), { limit: 10 })
    await store.put(store.newKey(), inPieces(randomBytes(11), 5), { limit: 10 }).catch(() => {})
    expect(await readdir(join(directory, "tmp"))).toEqual([])
  })

  it("never writes over a blob that is being written under the same key", async () => {
    const store = await openDiskBlobs(directory)
    const key = store.newKey()
    async function* first() {
      yield Buffer.from("first")
      await expect(store.put(key, inPieces(Buffer.from("other"), 5), { limit: 5 })).rejects.toThrow("EEXIST")
    }
    await store.put(key, first(), { limit: 5 })
    expect((await read(store, key)).toString()).toBe("first")
  })

  it("removes at start what a dead process left a day ago, and nothing younger", async () => {
    const temporary = join(directory, "tmp")
    await mkdir(temporary)
    await writeFile(join(temporary, "old"), "left behind")
    await writeFile(join(temporary, "young"), "perhaps being written")
    const yesterday = new Date(Date.now() - 25 * 60 * 60 * 1000)
    await utimes(join(temporary, "old"), yesterday, yesterday)
    await openDiskBlobs(directory)
    expect(await readdir(temporary)).toEqual(["young"])
  })

  it("does not follow a link out of its directory", async () => {
    const store = await openDiskBlobs(join(directory, "store"))
    const secret = join(directory, "secret")
    await writeFile(secret, "secret")
    const key = store.newKey()
    await mkdir(dirname(join(directory, "store", key)), { recursive: true })
    await symlink(secret, join(directory, "store", key))
    await expect(store.open(key)).rejects.toThrow("ELOOP")
  })

  it("keeps its blobs when it is opened again", async () => {
    const before = await openDiskBlobs(directory)
    const key = before.newKey()
    await before.put(key, inPieces(Buffer.from("still here"), 4), { limit: 100 })
    const after = await openDiskBlobs(directory)
    expect((await read(after, key)).toString()).toBe("still here")
  })
})

async function* breakingOff() {
  yield randomBytes(1000)
  throw new Error("the line went dead")
}

async function* inPieces(bytes: Buffer, size: number) {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

async function read(store: Blobs, key: string, range?: { start: number; end: number }) {
  return buffer(await openExisting(store, key, range))
}

async function openExisting(store: Blobs, key: string, range?: { start: number; end: number }) {
  const stream = await store.open(key, range)
  if (!stream) throw new Error(`${key} is not there.`)
  return stream
}
