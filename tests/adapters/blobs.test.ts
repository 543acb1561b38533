import { createHash, randomBytes } from "node:crypto"
import { once } from "node:events"
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises"
import { createServer, request } from "node:http"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { buffer } from "node:stream/consumers"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import type { Blobs } from "#server/ports/blobs.ts"
import { openDiskBlobs } from "#server/adapters/blobs/disk.ts"
import { openS3Blobs } from "#server/adapters/blobs/s3.ts"
import { createTurns } from "#server/adapters/blobs/s3/turns.ts"
import { portOf } from "../support/port-of.ts"
import { startS3 } from "../support/s3.ts"

/**
 * The contract of every blob store. `open` returns an empty one, `reopen` the same one as another
 * process sees it.
 */
function describeBlobs(name: string, open: () => Promise<Blobs>, reopen: () => Promise<Blobs>) {
  describe(`${name}, as a blob store`, () => {
    let store: Blobs
    beforeEach(async () => {
      store = await open()
    })

    it("returns the bytes it was given, with their count and SHA-256", async () => {
      const bytes = randomBytes(700_001)
      const key = store.newKey()
      const stored = await store.put(key, inPieces(bytes, 64 * 1024), { limit: bytes.length })
      expect(stored).toEqual({
        size: 700_001,
        sha256: createHash("sha256").update(bytes).digest("hex"),
      })
      expect(Buffer.compare(await read(store, key), bytes)).toBe(0)
    })

    it("stores empty input as an empty blob", async () => {
      const key = store.newKey()
      expect(await store.put(key, inPieces(Buffer.alloc(0), 1), { limit: 0 })).toMatchObject({ size: 0 })
      expect(await read(store, key)).toHaveLength(0)
    })

    it("reads a range, both ends included", async () => {
      const key = store.newKey()
      await store.put(key, inPieces(Buffer.from("0123456789"), 3), { limit: 10 })
      expect((await read(store, key, { start: 2, end: 5 })).toString()).toBe("2345")
      expect((await read(store, key, { start: 9, end: 9 })).toString()).toBe("9")
    })

    it("stores nothing beyond the limit, and stops reading the source", async () => {
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

    it("stores nothing if the stream fails, and rethrows its error", async () => {
      const key = store.newKey()
      await expect(store.put(key, breakingOff(), { limit: 5000 })).rejects.toThrow("the line went dead")
      expect(await store.open(key)).toBeNull()
    })

    it("hides a blob until it is complete", async () => {
      const key = store.newKey()
      async function* observed() {
        yield randomBytes(1000)
        expect(await store.open(key)).toBeNull()
        yield randomBytes(1000)
      }
      expect(await store.storedSize(key)).toBeNull()
      await store.put(key, observed(), { limit: 5000 })
      expect(await read(store, key)).toHaveLength(2000)
      expect(await store.storedSize(key)).toBe(2000)
    })

    it("removes a blob; removing it again does nothing", async () => {
      const key = store.newKey()
      await store.put(key, inPieces(Buffer.from("gone soon"), 4), { limit: 100 })
      await store.remove(key)
      expect(await store.open(key)).toBeNull()
      await store.remove(key)
    })

    it("lets a reader finish after the blob is removed", async () => {
      const bytes = randomBytes(2_000_000)
      const key = store.newKey()
      await store.put(key, inPieces(bytes, 256 * 1024), { limit: bytes.length })
      const stream = await openExisting(store, key)
      await store.remove(key)
      expect(await buffer(stream)).toHaveLength(bytes.length)
    })

    it("never repeats a key, and rejects keys it did not create", async () => {
      expect(new Set(Array.from({ length: 1000 }, () => store.newKey()))).toHaveLength(1000)
      for (const key of [
        "../../etc/passwd",
        "aa/bb/../../x",
        "/etc/passwd",
        "aa/bb/c\0d",
        "",
        store.newKey() + "/..",
      ]) {
        await expect(store.open(key)).rejects.toThrow("is not a valid blob store key")
        await expect(store.put(key, inPieces(Buffer.from("x"), 1), { limit: 1 })).rejects.toThrow(
          "is not a valid blob store key",
        )
        await expect(store.remove(key)).rejects.toThrow("is not a valid blob store key")
        await expect(store.append(key, 0, inPieces(Buffer.from("x"), 1))).rejects.toThrow(
          "is not a valid blob store key",
        )
        await expect(store.sizeOf(key)).rejects.toThrow("is not a valid blob store key")
        await expect(store.finish(key)).rejects.toThrow("is not a valid blob store key")
      }
    })

    it("accepts many blobs concurrently", async () => {
      const blobs = Array.from({ length: 40 }, () => ({ key: store.newKey(), bytes: randomBytes(50_000) }))
      await Promise.all(
        blobs.map(({ key, bytes }) => store.put(key, inPieces(bytes, 8192), { limit: 50_000 })),
      )
      for (const { key, bytes } of blobs) expect(Buffer.compare(await read(store, key), bytes)).toBe(0)
    })

    it("joins appended parts, and returns their total size and SHA-256", async () => {
      // Below, at and above five megabytes, the minimum that S3 accepts as a part.
      const sizes = [1, 5_242_880, 3_000_000, 12_000_001, 0, 700]
      const bytes = randomBytes(sizes.reduce((sum, size) => sum + size))
      const key = store.newKey()
      let offset = 0
      for (const size of sizes) {
        const end = await store.append(key, offset, inPieces(bytes.subarray(offset, offset + size), 300_000))
        expect(end).toBe(offset + size)
        expect(await store.sizeOf(key)).toBe(end)
        offset = end
      }
      const sha256 = createHash("sha256").update(bytes).digest("hex")
      expect(await store.finish(key)).toEqual({ size: bytes.length, sha256 })
      expect(await store.sizeOf(key)).toBe(bytes.length)
      expect(Buffer.compare(await read(store, key), bytes)).toBe(0)
    })

    it("copies each chunk before it asks for the next, which may reuse the same memory", async () => {
      const bytes = randomBytes(9_000_000)
      const memory = Buffer.alloc(64 * 1024)
      async function* throughOnePlace(from: number, to: number) {
        for (let start = from; start < to; start += memory.length) {
          const size = bytes.copy(memory, 0, start, Math.min(to, start + memory.length))
          yield memory.subarray(0, size)
          memory.fill(0)
        }
      }
      const [put, appended] = [store.newKey(), store.newKey()]
      await store.put(put, throughOnePlace(0, bytes.length), { limit: bytes.length })
      await store.append(appended, 0, throughOnePlace(0, 8_500_000))
      await store.append(appended, 8_500_000, throughOnePlace(8_500_000, bytes.length))
      await store.finish(appended)
      for (const key of [put, appended]) expect(Buffer.compare(await read(store, key), bytes)).toBe(0)
    })

    it("continues and finishes an upload that another process started", async () => {
      const bytes = randomBytes(7_000_000)
      const key = store.newKey()
      await store.append(key, 0, inPieces(bytes.subarray(0, 6_000_000), 64 * 1024))
      const other = await reopen()
      expect(await other.sizeOf(key)).toBe(6_000_000)
      await other.append(key, 6_000_000, inPieces(bytes.subarray(6_000_000), 64 * 1024))
      const sha256 = createHash("sha256").update(bytes).digest("hex")
      // The first one has read only the beginning.
      expect(await store.finish(key)).toEqual({ size: 7_000_000, sha256 })
      expect(await other.finish(key)).toEqual({ size: 7_000_000, sha256 })
    })

    it("keeps what arrived before an append fails, and rethrows its error", async () => {
      const key = store.newKey()
      await store.append(key, 0, inPieces(randomBytes(500), 100))
      await expect(store.append(key, 500, breakingOff())).rejects.toThrow("the line went dead")
      expect(await store.sizeOf(key)).toBe(1500)
      const rest = randomBytes(20)
      expect(await store.append(key, 1500, inPieces(rest, 7))).toBe(1520)
      const { sha256 } = await store.finish(key)
      const stored = await read(store, key)
      expect(stored.subarray(1500)).toEqual(rest)
      expect(sha256).toBe(createHash("sha256").update(stored).digest("hex"))
    })

    it("only appends at the end, and never to a finished blob", async () => {
      const key = store.newKey()
      await store.append(key, 0, inPieces(Buffer.from("begun"), 5))
      for (const offset of [0, 4, 6]) {
        await expect(store.append(key, offset, inPieces(Buffer.from("x"), 1))).rejects.toThrow()
      }
      await store.finish(key)
      for (const offset of [0, 5]) {
        await expect(store.append(key, offset, inPieces(Buffer.from("x"), 1))).rejects.toThrow()
      }
      expect((await read(store, key)).toString()).toBe("begun")
    })

    it("finishes a blob to which only empty parts were appended", async () => {
      const key = store.newKey()
      await expect(store.finish(key)).rejects.toThrow("Nothing was ever appended")
      expect(await store.append(key, 0, inPieces(Buffer.alloc(0), 1))).toBe(0)
      expect(await store.finish(key)).toMatchObject({ size: 0 })
      expect(await read(store, key)).toHaveLength(0)
    })

    it("hides an unfinished blob, and returns nothing for one that never existed", async () => {
      const key = store.newKey()
      await store.append(key, 0, inPieces(randomBytes(6_000_000), 64 * 1024))
      expect(await store.open(key)).toBeNull()
      expect(await store.sizeOf(store.newKey())).toBe(0)
    })

    it("returns the same result when finished twice", async () => {
      const key = store.newKey()
      await store.append(key, 0, inPieces(randomBytes(6_000_000), 64 * 1024))
      expect(await store.finish(key)).toEqual(await store.finish(key))
    })

    it("removes an unfinished blob with all its parts, so that its key can start over", async () => {
      const key = store.newKey()
      const size = await store.append(key, 0, inPieces(randomBytes(6_000_000), 64 * 1024))
      await store.append(key, size, inPieces(randomBytes(10), 10))
      await store.remove(key)
      expect(await store.sizeOf(key)).toBe(0)
      expect(await listed("unfinished")).toEqual([])
      await store.append(key, 0, inPieces(Buffer.from("again"), 4))
      await store.finish(key)
      expect((await read(store, key)).toString()).toBe("again")
    })

    it("lists stored and unfinished blobs with sizes and times", async () => {
      const [whole, begun, empty] = [store.newKey(), store.newKey(), store.newKey()]
      await store.put(whole, inPieces(randomBytes(3000), 1000), { limit: 3000 })
      await store.append(begun, 0, inPieces(randomBytes(6_000_000), 64 * 1024))
      await store.append(empty, 0, inPieces(Buffer.alloc(0), 1))
      await store.finish(empty)
      expect(await listed("stored")).toEqual(
        [
          { key: whole, size: 3000 },
          { key: empty, size: 0 },
        ].toSorted(byKey),
      )
      expect(await listed("unfinished")).toEqual([{ key: begun, size: 6_000_000 }])
      for await (const { modifiedAt } of store.list("stored")) {
        expect(Math.abs(Date.now() - modifiedAt)).toBeLessThan(60_000)
      }
    })

    async function listed(state: "stored" | "unfinished") {
      const found: { key: string; size: number }[] = []
      for await (const { key, size } of store.list(state)) found.push({ key, size })
      return found.toSorted(byKey)
    }
  })
}

function byKey(one: { key: string }, other: { key: string }) {
  return one.key < other.key ? -1 : 1
}

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "blobs-"))
})
afterEach(() => rm(directory, { recursive: true }))

const openStore = () => openDiskBlobs(join(directory, "store"))
describeBlobs("the local disk", openStore, openStore)

const s3 = startS3()
const openBucket = () => openS3Blobs(s3.settings())
describeBlobs("a bucket", () => s3.emptyBucket().then(openBucket), openBucket)

describe("a bucket", () => {
  it("keeps all bytes of a blob whose parts could not all be removed when it was finished", async () => {
    await s3.emptyBucket()
    const passage = await openPassage(s3.settings().endpoint ?? "")
    const store = await openS3Blobs({ ...s3.settings(), endpoint: passage.origin })
    const key = store.newKey()
    const bytes = randomBytes(17_000_000)
    await store.append(key, 0, inPieces(bytes, 300_000))
    passage.refuse = ({ method, pathname }) => (method === "DELETE" && /\/0+$/.test(pathname) ? 403 : null)
    await expect(store.finish(key)).rejects.toThrow()
    passage.refuse = () => null

    expect(await store.sizeOf(key)).toBe(bytes.length)
    const sha256 = createHash("sha256").update(bytes).digest("hex")
    expect(await store.finish(key)).toEqual({ size: bytes.length, sha256 })
    expect(Buffer.compare(await read(store, key), bytes)).toBe(0)
    await passage.close()
  })

  it("limits how many blobs buffer a part in memory, and refuses a blob that waits too long for a slot", async () => {
    const inTurn = createTurns(1, 60_000)
    const first = Promise.withResolvers<string>()
    const order: string[] = []
    const both = [
      inTurn(() => first.promise.then((word) => order.push(word))),
      inTurn(async () => order.push("second")),
    ]
    const limited = createTurns(1, 10)
    const lasting = limited(() => first.promise)
    await expect(limited(() => Promise.resolve())).rejects.toMatchObject({
      status: 503,
      message: "Too many files are being uploaded right now. Try again in a moment.",
    })
    first.resolve("first")
    await Promise.all([...both, lasting])
    expect(order).toEqual(["first", "second"])
    await limited(() => Promise.resolve())
  })

  it("that refuses the keys refuses uploads with a sentence, and goes on when it accepts them", async () => {
    await s3.emptyBucket()
    const passage = await openPassage(s3.settings().endpoint ?? "")
    const store = await openS3Blobs({ ...s3.settings(), endpoint: passage.origin })
    const begun = store.newKey()
    await store.append(begun, 0, inPieces(randomBytes(10), 5))
    passage.refuse = ({ method }) => (method === "GET" || method === "HEAD" ? null : 403)
    const one = () => inPieces(randomBytes(5), 5)
    const refused = { status: 503, reason: "file-store-refuses" }
    await expect(store.put(store.newKey(), one(), { limit: 5 })).rejects.toMatchObject(refused)
    await expect(store.append(store.newKey(), 0, one())).rejects.toMatchObject(refused)
    await expect(store.append(begun, 10, one())).rejects.toMatchObject(refused)
    await expect(store.finish(begun)).rejects.toMatchObject(refused)
    await expect(store.remove(begun)).rejects.toMatchObject(refused)
    passage.refuse = () => null
    expect(await store.append(begun, 10, one())).toBe(15)
    await passage.close()
  })

  it("sends no range request for an empty blob, which stores would refuse", async () => {
    await s3.emptyBucket()
    const passage = await openPassage(s3.settings().endpoint ?? "")
    const store = await openS3Blobs({ ...s3.settings(), endpoint: passage.origin })
    const key = store.newKey()
    await store.put(key, inPieces(Buffer.alloc(0), 1), { limit: 0 })
    passage.refuse = ({ range }) => (range === undefined ? null : 416)
    expect(await read(store, key, { start: 0, end: 99 })).toHaveLength(0)
    await passage.close()
  })
})

interface Passing {
  method: string
  pathname: string
  range: string | undefined
}

/** A proxy to a server that refuses some requests. */
async function openPassage(to: string) {
  const passage = {
    origin: "",
    /** The status to refuse a request with, if any. */
    refuse: (_request: Passing): number | null => null,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
  const server = createServer((incoming, outgoing) => {
    const { method = "", url = "", headers } = incoming
    const address = new URL(url, to)
    const status = passage.refuse({ method, pathname: address.pathname, range: headers.range })
    if (status !== null) return void outgoing.writeHead(status).end()
    const onward = request(address, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    incoming.pipe(onward)
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  passage.origin = `http://127.0.0.1:${portOf(server)}`
  return passage
}

describe("the local disk", () => {
  it("leaves no temporary file behind, whether the write succeeded or not", async () => {
    const store = await openDiskBlobs(directory)
    await store.put(store.newKey(), inPieces(randomBytes(10), 5), { limit: 10 })
    await store.put(store.newKey(), inPieces(randomBytes(11), 5), { limit: 10 }).catch(() => {})
    expect(await readdir(join(directory, "tmp"))).toEqual([])
  })

  it("never overwrites a blob that is being written under the same key", async () => {
    const store = await openDiskBlobs(directory)
    const key = store.newKey()
    async function* first() {
      yield Buffer.from("first")
      await expect(store.put(key, inPieces(Buffer.from("other"), 5), { limit: 5 })).rejects.toThrow("EEXIST")
    }
    await store.put(key, first(), { limit: 5 })
    expect((await read(store, key)).toString()).toBe("first")
  })

  it("writes everything it has received while it waits for more", async () => {
    const store = await openDiskBlobs(directory)
    const key = store.newKey()
    async function* stalling() {
      for (let number = 0; number < 5; number++) yield randomBytes(200_000)
      await expect.poll(() => store.sizeOf(key)).toBe(1_000_000)
    }
    expect(await store.append(key, 0, stalling())).toBe(1_000_000)
  })

  it("does not follow a symbolic link out of its directory", async () => {
    const store = await openDiskBlobs(join(directory, "store"))
    const secret = join(directory, "secret")
    await writeFile(secret, "secret")
    const key = store.newKey()
    await mkdir(dirname(join(directory, "store", key)), { recursive: true })
    await symlink(secret, join(directory, "store", key))
    await expect(store.open(key)).rejects.toThrow("ELOOP")
  })

  it("keeps its blobs after it is reopened", async () => {
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
