import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import { files, fileShares, idempotencyKeys, uploads } from "#db/schema/files.ts"
import { takeFiles } from "#server/files/incoming.ts"
import { copyFiles } from "#server/files/move.ts"
import { onceOf } from "#server/operations/once.ts"
import { createUpload, receivePart } from "#server/files/resumable.ts"
import { fileLinks } from "#server/files/shares.ts"
import { createLink } from "#server/links/links.ts"
import { deleteOldRows } from "#server/old-rows.ts"
import { purgeFile } from "#server/files/trash.ts"
import { uploadFile, type IncomingFile } from "#server/files/upload.ts"
import { aFile } from "../support/file-drawer.ts"
import { withDrawer } from "../support/with-drawer.ts"

const DAY = 24 * 60 * 60 * 1000
const once = { key: "one" }

const { drawer, ada } = withDrawer({ settings: { FILES_QUOTA_FREE: "1MB" }, people: { ada: "free" } })

describe("a file that is sent again with its key", () => {
  it("is stored and counted once", async () => {
    const first = await uploadFile(ada, { ...aFile("receipt.txt", "nine bytes"), once })
    const second = await uploadFile(ada, { ...aFile("receipt.txt", "nine bytes"), once })
    expect(second).toEqual(first)
    expect(await drawer.db.$count(files)).toBe(1)
    expect(await drawer.db.$count(uploads)).toBe(0)
    expect(await drawer.usage()).toEqual([{ used: 10, reserved: 0 }])
    expect(await drawer.storedPaths()).toHaveLength(1)
  })

  it("is not stored again after it was deleted", async () => {
    const { _id } = await uploadFile(ada, { ...aFile("receipt.txt"), once })
    await purgeFile(ada, _id)
    expect(await uploadFile(ada, { ...aFile("receipt.txt"), once })).toMatchObject({ _id })
    expect(await drawer.db.$count(files)).toBe(0)
  })

  it("is stored again when the first attempt was not finished", async () => {
    const cut = { fileName: "receipt.txt", bytes: brokenOff(), size: { exactly: 10 }, once }
    await expect(uploadFile(ada, cut)).rejects.toThrow("cut")
    expect(await drawer.db.$count(idempotencyKeys)).toBe(0)
    await uploadFile(ada, { ...aFile("receipt.txt", "nine bytes"), once })
    expect(await drawer.usage()).toEqual([{ used: 10, reserved: 0 }])
  })

  it("gets 409 while the first is arriving", async () => {
    const arriving = Promise.withResolvers<void>()
    const rest = Promise.withResolvers<void>()
    async function* slowly() {
      yield Buffer.from("nine ")
      arriving.resolve()
      await rest.promise
      yield Buffer.from("bytes")
    }
    const first = uploadFile(ada, { fileName: "a.txt", bytes: slowly(), size: { exactly: 10 }, once })
    await arriving.promise
    const again = uploadFile(ada, { ...aFile("a.txt", "nine bytes"), once })
    await expect(again).rejects.toMatchObject({ status: 409, reason: "idempotency-key-in-progress" })
    rest.resolve()
    await first
    expect(await drawer.usage()).toEqual([{ used: 10, reserved: 0 }])
  })

  it("is stored once when twelve requests come together", async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, () => uploadFile(ada, { ...aFile("a.txt"), once })),
    )
    const refused = outcomes.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []))
    for (const error of refused) expect(error).toMatchObject({ status: 409 })
    expect(refused.length).toBeLessThan(12)
    expect(await drawer.db.$count(files)).toBe(1)
  })

  it.each([
    ["another name", aFile("other.txt", "nine bytes")],
    ["other bytes", aFile("receipt.txt", "nine BYTES")],
    ["more bytes", aFile("receipt.txt", "nine bytes and more")],
    ["fewer bytes", aFile("receipt.txt", "nine")],
  ])("gets 422 with %s", async (_what, other) => {
    await uploadFile(ada, { ...aFile("receipt.txt", "nine bytes"), once })
    const again = uploadFile(ada, { ...other, once })
    await expect(again).rejects.toMatchObject({ status: 422, reason: "idempotency-key-used" })
    expect(await drawer.db.$count(files)).toBe(1)
  })

  it("has nothing to do with the key of another person", async () => {
    const grace = await drawer.scopeOf("grace")
    const { _id } = await uploadFile(ada, { ...aFile("a.txt"), once })
    expect((await uploadFile(grace, { ...aFile("a.txt"), once }))._id).not.toBe(_id)
  })

  it("is stored again after a day", async () => {
    await uploadFile(ada, { ...aFile("a.txt"), once })
    await drawer.db.update(idempotencyKeys).set({ expiresAt: Date.now() - 1 })
    await uploadFile(ada, { ...aFile("a.txt"), once })
    expect(await drawer.db.$count(files)).toBe(2)
    await deleteOldRows(ada, idempotencyKeys, Date.now() + DAY + 1000)
    expect(await drawer.db.$count(idempotencyKeys)).toBe(0)
  })
})

it("each file of a form that is sent again is stored once, also when the first broke off between them", async () => {
  await takeFiles(formOf(["a.txt", "b.txt"]), take)
  const again = await takeFiles(formOf(["a.txt", "b.txt", "c.txt"]), take)
  expect(again.map(({ fileName }) => fileName)).toEqual(["a.txt", "b.txt", "c.txt"])
  expect(await drawer.db.$count(files)).toBe(3)
})

it("copies that are asked for again are made once", async () => {
  const { _id } = await uploadFile(ada, aFile("a.txt", "nine bytes"))
  const first = await copyFiles(ada, { fileIds: [_id] }, once)
  expect(await copyFiles(ada, { fileIds: [_id] }, once)).toEqual(first)
  expect(await drawer.usage()).toEqual([{ used: 20, reserved: 0 }])
  const other = await uploadFile(ada, aFile("b.txt", "nine bytes"))
  await expect(copyFiles(ada, { fileIds: [other._id] }, once)).rejects.toMatchObject({ status: 422 })
})

it("a link that is asked for again is the same, and its URL is not in the database", async () => {
  const { _id } = await uploadFile(ada, aFile("a.txt"))
  const first = await createLink(ada, fileLinks, _id, { password: "open sesame" }, once)
  expect(await createLink(ada, fileLinks, _id, { password: "open sesame" }, once)).toEqual(first)
  const token = first.url.split("/").at(-1) ?? ""
  const [share] = await drawer.db.select().from(fileShares)
  expect(share?.tokenHash).toBe(createHash("sha256").update(token).digest("hex"))
  expect(JSON.stringify(await drawer.db.select().from(idempotencyKeys))).not.toContain(token)
  await expect(createLink(ada, fileLinks, _id, {}, once)).rejects.toMatchObject({ status: 422 })
  expect(await drawer.db.$count(fileShares)).toBe(1)
})

it("a resumable upload that is announced again is the same upload, also when it is a file", async () => {
  const announced = { fileName: "a.txt", length: 10, metadata: "filename YS50eHQ=", once }
  const first = await createUpload(ada, announced)
  expect(await createUpload(ada, announced)).toMatchObject({ _id: first._id, offset: 0, isNew: false })
  expect(await drawer.usage()).toEqual([{ used: 0, reserved: 10 }])
  await receivePart(ada, first._id, { offset: 0, body: new Blob(["nine bytes"]).stream(), size: 10 })
  const again = await createUpload(ada, announced)
  expect(again).toMatchObject({ _id: first._id, offset: 10, isNew: false })
  expect(again.fileId).not.toBeNull()
  await expect(createUpload(ada, { ...announced, length: 11 })).rejects.toMatchObject({ status: 422 })
  expect(await drawer.usage()).toEqual([{ used: 10, reserved: 0 }])
})

it.each([
  ['"a-key"', "a-key"],
  ["a-key", "a-key"],
])("the header %s is a key", (header, key) => {
  expect(onceOf({ headers: new Headers({ "Idempotency-Key": header }) })).toEqual({ key })
})

it.each(["", '""', "two words", `"${"a".repeat(256)}"`])("the header %s is refused", (header) => {
  expect(() => onceOf({ headers: new Headers({ "Idempotency-Key": header }) })).toThrow(/Idempotency-Key is/)
})

function take(file: IncomingFile) {
  return uploadFile(ada, file)
}

async function* brokenOff() {
  yield Buffer.from("nine")
  throw new Error("cut")
}

function formOf(names: string[]): Request {
  const form = new FormData()
  for (const name of names) form.append("file", new File([`What ${name} holds.`], name))
  return new Request("http://localhost/api/files", {
    method: "POST",
    body: form,
    headers: { "Idempotency-Key": '"a-form"', "Content-Length": "1000" },
  })
}
