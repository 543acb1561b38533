import { randomBytes } from "node:crypto"
import { readFile, rm, truncate, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Readable } from "node:stream"
import { buffer } from "node:stream/consumers"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { createFileReader } from "#server/chat/attachments.ts"
import { openThumbnailer } from "#server/files/thumbnailer.ts"
import { chatTools } from "#server/chat/tools.ts"
import { checkFiles } from "#server/files/check.ts"
import { listDamage } from "#server/files/damage.ts"
import { findFile, readFileText } from "#server/files/files.ts"
import { readStored } from "#server/files/read-stored.ts"
import { sweep } from "#server/files/sweep.ts"
import { uploadFile } from "#server/files/upload.ts"
import { aFile, openFileDrawer, type FileDrawer } from "../support/file-drawer.ts"

let drawer: FileDrawer
let ada: Awaited<ReturnType<FileDrawer["scopeOf"]>>

beforeAll(async () => {
  drawer = await openFileDrawer()
})
afterAll(() => drawer.close())
beforeEach(async () => {
  await drawer.empty()
  ada = await drawer.scopeOf("ada")
})

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

  it("end the stream with the error of a disk that cannot read them, which is noted", async () => {
    const { file } = await store("sector.bin", randomBytes(50))
    const failed = Object.assign(new Error("EIO: i/o error, read"), { code: "EIO" })
    const failing = new Readable({ read: () => void failing.destroy(failed) })
    const scope = { ...ada, blobs: { ...drawer.blobs, open: () => Promise.resolve(failing) } }
    await expect(buffer(await readStored(scope, await findFile(ada, file._id)))).rejects.toBe(failed)
    await expect.poll(damages).toEqual(["unreadable"])
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

async function damages() {
  return (await listDamage(drawer)).listed.map(({ damage }) => damage)
}

async function findings() {
  const kinds: string[] = []
  for await (const { kind } of checkFiles(ada)) kinds.push(kind)
  return kinds
}
