import { randomBytes } from "node:crypto"
import { readFile, rm, truncate, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Readable } from "node:stream"
import { buffer } from "node:stream/consumers"
import { eq } from "drizzle-orm"
import { describe, expect, it } from "vitest"
import { blobs, damagedBlobs, files } from "#db/schema/files.ts"
import { createFileReader } from "#server/chat/attachments.ts"
import { openThumbnailer } from "#server/files/thumbnailer.ts"
import { chatTools } from "#server/chat/tools.ts"
import { openAllFiles } from "#server/files/archive.ts"
import { checkFiles } from "#server/files/check.ts"
import { listDamage } from "#server/files/damage.ts"
import { findFile, readFileText } from "#server/files/files.ts"
import { readStored } from "#server/files/read-stored.ts"
import { sweep } from "#server/files/sweep.ts"
import { uploadFile } from "#server/files/upload.ts"
import { zipOf } from "#server/files/zip.ts"
import { aFile } from "../support/file-drawer.ts"
import { readZip } from "../support/zip.ts"
import { withDrawer } from "../support/with-drawer.ts"

const { drawer, ada } = withDrawer({ people: { ada: "free" } })

const DAMAGED = { status: 503, reason: "file-bytes-damaged" }

describe("a damaged text file", () => {
  it("is refused as a preview, and what the model reads says so", async () => {
    const { file, path } = await store("notes.txt", "What the notes said.")
    await truncate(path, 5)
    await expect(readFileText(ada, file._id, 100)).rejects.toMatchObject(DAMAGED)
    const attached = { fileId: file._id, fileName: "notes.txt", mimeType: "text/plain", size: 20 }
    expect(
      await createFileReader({ ...ada, thumbnailer: openThumbnailer(ada) }, null)("Read it.", [attached]),
    ).toContainEqual({
      type: "text",
      text: '[File "notes.txt" was attached here. Its contents are lost.]',
    })
    const read = chatTools(ada, null)["readFile"]?.execute?.(
      { fileId: file._id },
      { toolCallId: "1", messages: [], context: {} },
    )
    expect(await read).toEqual({ problem: expect.stringContaining("are damaged on the server") as string })
  })
})

describe("bytes that turn out to be damaged while they are read", () => {
  it.each([
    ["fewer", randomBytes(40), "shorter"],
    ["more", randomBytes(60), "longer"],
    ["others", randomBytes(50), "changed"],
  ])("end the stream with a refusal: %s", async (_name, found, damage) => {
    const { file } = await store("read.bin", randomBytes(50))
    const open = () => Promise.resolve(Readable.from([found.subarray(0, 20), found.subarray(20)]))
    const scope = { ...ada, blobs: { ...drawer.blobs, open } }
    const stream = await readStored(scope, await findFile(ada, file._id))
    await expect(buffer(stream)).rejects.toMatchObject(DAMAGED)
    expect(await damages()).toEqual([damage])
  })

  const original = randomBytes(50)
  it.each([
    ["fewer", original.subarray(0, 40), "shorter"],
    ["more", Buffer.concat([original, randomBytes(10)]), "longer"],
    ["others", randomBytes(50), "changed"],
  ])("are in an archive of everything as they are, which names them: %s", async (_name, found, damage) => {
    await store("read.txt", original)
    const open = () => Promise.resolve(Readable.from([...found].map((byte) => Buffer.of(byte))))
    expect(await everything({ ...ada, blobs: { ...drawer.blobs, open } })).toEqual([
      ["read.txt", found.toString()],
      ["damaged files.txt", expect.stringMatching(/\n\nread\.txt\n$/)],
    ])
    expect(await damages()).toEqual([damage])
  })

  it("end within an archive of everything where the disk cannot read on", async () => {
    const { file } = await store("sector.txt", "What the sectors said.")
    await store("whole.txt", "whole")
    const { key: bad } = await findFile(ada, file._id)
    const failed = Object.assign(new Error("EIO: i/o error, read"), { code: "EIO" })
    const open = (key: string) =>
      key === bad ? Promise.resolve(Readable.from(failingAfter("What", failed))) : drawer.blobs.open(key)
    const [sector, ...rest] = await everything({ ...ada, blobs: { ...drawer.blobs, open } })
    expect(sector?.[0]).toBe("sector.txt")
    expect("What").toContain(sector?.[1])
    expect(rest).toEqual([
      ["whole.txt", "whole"],
      ["damaged files.txt", expect.stringMatching(/\n\nsector\.txt\n$/)],
    ])
    await expect.poll(damages).toEqual(["unreadable"])
  })

  it("end the stream with the error of a disk that cannot read them, which is noted", async () => {
    const { file } = await store("sector.bin", randomBytes(50))
    const failed = Object.assign(new Error("EIO: i/o error, read"), { code: "EIO" })
    const failing = new Readable({ read: () => void failing.destroy(failed) })
    const scope = { ...ada, blobs: { ...drawer.blobs, open: () => Promise.resolve(failing) } }
    await expect(buffer(await readStored(scope, await findFile(ada, file._id)))).rejects.toBe(failed)
    await expect.poll(damages).toEqual(["unreadable"])
  })
})

it("a store that cannot tell the size leaves no stream open", async () => {
  const { file } = await store("open.bin", randomBytes(50))
  const opening: Promise<Readable | null>[] = []
  const failed = new Error("The store does not respond.")
  const storedSize = () => Promise.reject(failed)
  const open = (key: string) => {
    const stream = drawer.blobs.open(key)
    opening.push(stream)
    return stream
  }
  const scope = { ...ada, blobs: { ...drawer.blobs, storedSize, open } }
  await expect(readStored(scope, await findFile(ada, file._id))).rejects.toBe(failed)
  const opened = await Promise.all(opening)
  expect(opened.filter((stream) => stream?.destroyed === false)).toEqual([])
})

describe("an archive of everything", () => {
  it("has a text in place of what cannot be opened, and its longest name stays within the limit", async () => {
    const longest = `${"a".repeat(251)}.txt`
    await store(longest, "What cannot be opened.")
    const failed = Object.assign(new Error("EUCLEAN: structure needs cleaning, open"), { code: "EUCLEAN" })
    const open = () => Promise.reject(failed)
    const [text, ...rest] = await everything({ ...ada, blobs: { ...drawer.blobs, open } })
    expect(text).toEqual([
      `${"a".repeat(241)} (damaged).txt`,
      expect.stringMatching(/are damaged on the server/),
    ])
    expect(rest).toEqual([["damaged files.txt", expect.stringContaining(`\n\n${longest}\n`)]])
    expect(await damages()).toEqual(["unreadable"])
  })

  it("leaves out what is deleted while it is sent, and ends if the store does not respond", async () => {
    const { file, path } = await store("deleted.txt", "deleted")
    const storedSize = async (key: string) => {
      await drawer.db.delete(files).where(eq(files._id, file._id))
      await rm(path, { force: true })
      return drawer.blobs.storedSize(key)
    }
    expect(await everything({ ...ada, blobs: { ...drawer.blobs, storedSize } })).toEqual([])
    await store("kept.txt", "kept")
    const failed = new Error("The store does not respond.")
    const unreachable = { ...drawer.blobs, storedSize: () => Promise.reject(failed) }
    await expect(everything({ ...ada, blobs: unreachable })).rejects.toBe(failed)
  })
})

describe("a note of damage", () => {
  it("goes when the bytes are back, at the next sweep", async () => {
    const { path, bytes, file } = await store("lost.bin", randomBytes(50))
    await rm(path)
    await expect(readStored(ada, await findFile(ada, file._id))).rejects.toMatchObject({ status: 503 })
    await sweep(ada)
    expect(await damages()).toEqual(["missing"])
    await writeFile(path, randomBytes(50))
    await sweep(ada)
    expect(await damages()).toEqual(["changed"])
    await writeFile(path, bytes)
    // Bytes of the right size are not read every ten minutes.
    await sweep(ada)
    expect(await damages()).toEqual(["changed"])
    expect(await findings()).toEqual([])
    expect(await damages()).toEqual([])
  })

  it("goes however many others stay", async () => {
    const lost = await drawer.db
      .insert(blobs)
      .values(
        Array.from({ length: 600 }, () => ({
          key: drawer.blobs.newKey(),
          size: 50,
          sha256: "a".repeat(64),
        })),
      )
      .returning()
    await drawer.db
      .insert(damagedBlobs)
      .values(lost.map(({ _id }) => ({ blobId: _id, damage: "missing", foundAt: 1 })))
    const { file, path, bytes } = await store("back.bin", randomBytes(50))
    await rm(path)
    await expect(readStored(ada, await findFile(ada, file._id))).rejects.toMatchObject({ status: 503 })
    await writeFile(path, bytes)
    await sweep(ada)
    expect((await listDamage(drawer)).count).toBe(600)
  })

  it("is made by the file check, which reads noted bytes also without checksums", async () => {
    const { path } = await store("cut.bin", randomBytes(50))
    await truncate(path, 3)
    expect(await findings()).toEqual(["damaged"])
    expect(await damages()).toEqual(["shorter"])
    await writeFile(path, randomBytes(50))
    expect(await findings()).toEqual(["damaged"])
    expect(await damages()).toEqual(["changed"])
  })

  it("is not made of bytes whose row is gone", async () => {
    const { file, path } = await store("gone.bin", randomBytes(50))
    const found = await findFile(ada, file._id)
    await drawer.empty()
    await expect(readStored(ada, found)).rejects.toMatchObject({ reason: "file-bytes-missing" })
    await expect(readFile(path)).rejects.toThrow("ENOENT")
    expect(await damages()).toEqual([])
  })
})

async function store(name: string, content: string | Buffer) {
  const file = await uploadFile(ada, aFile(name, content))
  const { key } = await findFile(ada, file._id)
  return { file, bytes: content, path: join(drawer.directory, key) }
}

async function everything(scope: typeof ada) {
  return readZip(await buffer(zipOf(openAllFiles(scope))))
}

async function* failingAfter(text: string, error: Error) {
  yield Buffer.from(text)
  await Promise.reject(error)
}

async function damages() {
  return (await listDamage(drawer)).listed.map(({ damage }) => damage)
}

async function findings() {
  const kinds: string[] = []
  for await (const { kind } of checkFiles(ada)) kinds.push(kind)
  return kinds
}
