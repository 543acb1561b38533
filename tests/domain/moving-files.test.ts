import { eq } from "drizzle-orm"
import { text } from "node:stream/consumers"
import { beforeEach, describe, expect, it } from "vitest"
import { blobs, files, fileUsage } from "#db/schema/files.ts"
import { findFile } from "#server/files/files.ts"
import { listFiles } from "#server/files/list.ts"
import { copyFiles, moveFiles } from "#server/files/move.ts"
import { serveFile } from "#server/files/serve.ts"
import { visitShare } from "#server/files/share-visits.ts"
import { fileLinks } from "#server/files/shares.ts"
import { createLink, listLinks } from "#server/links/links.ts"
import { purgeFile, trashFile } from "#server/files/trash.ts"
import { uploadFile } from "#server/files/upload.ts"
import { findWrongUsage } from "#server/files/usage.ts"
import { aSpace, join } from "../support/domain-spaces.ts"
import { aFile } from "../support/file-drawer.ts"
import { withDrawer, type Owner as Person } from "../support/with-drawer.ts"

const QUOTA = 100_000
const QUERY = { q: "", sort: "name", type: undefined, cursor: undefined, limit: 100 } as const

/** Olga owns it, Edith edits, Ron reads. */
let spaceId: string

const { drawer, olga, edith, ron } = withDrawer({
  settings: { FILES_QUOTA_FREE: String(QUOTA), FILES_MAX_SIZE: "90000" },
  people: { olga: "free", edith: "free", ron: "free" },
})
beforeEach(async () => {
  spaceId = await aSpace(drawer.db, [olga, "owner"], [edith, "editor"], [ron, "reader"])
})

describe("moving files", () => {
  it("into a space takes them out of what is personal, with the same ids, and says who brought them", async () => {
    const [a, b] = [await uploadFile(edith, aFile("a.txt")), await uploadFile(edith, aFile("b.txt"))]
    const { files: moved } = await moveFiles(edith, { fileIds: [a._id, b._id], spaceId })
    const there = { userId: edith.viewer.user._id, spaceId }
    expect(moved).toEqual([
      { ...a, ...there },
      { ...b, ...there },
    ])
    expect(await namesIn(edith)).toEqual([])
    expect(await namesIn(ron, spaceId)).toEqual(["a.txt", "b.txt"])
    const response = await serveFile(ron, a._id, new Request("http://tideline.test/"))
    expect(await response.text()).toBe("What a.txt holds.")
  })

  it("out of a space makes them the mover's own, also those that others added", async () => {
    const { _id } = await uploadFile(olga, aFile("a.txt"), { spaceId })
    expect(await moveFiles(edith, { fileIds: [_id] })).toMatchObject({ files: [{ _id, fileName: "a.txt" }] })
    expect(await namesIn(edith)).toEqual(["a.txt"])
    expect(await namesIn(olga, spaceId)).toEqual([])
    await expect(findFile(olga, _id)).rejects.toMatchObject({ status: 404 })
  })

  it("gives numbers to names that are taken, among the files themselves too", async () => {
    const other = await aSpace(drawer.db, [edith, "owner"])
    const own = await uploadFile(edith, aFile("a.txt"))
    const foreign = await uploadFile(edith, aFile("a.txt"), { spaceId: other })
    await uploadFile(olga, aFile("a.txt"), { spaceId })
    await moveFiles(edith, { fileIds: [own._id, foreign._id], spaceId })
    expect(await namesIn(edith, spaceId)).toEqual(["a (1).txt", "a (2).txt", "a.txt"])
  })

  it("leaves what is there already as it is, and skips what does not exist", async () => {
    const there = await uploadFile(olga, aFile("a.txt"), { spaceId })
    const gone = await uploadFile(edith, aFile("gone.txt"))
    await trashFile(edith, gone._id)
    expect(await moveFiles(edith, { fileIds: [there._id, gone._id], spaceId })).toEqual({
      count: 1,
      files: [there],
    })
    await expect(moveFiles(edith, { fileIds: [gone._id], spaceId })).rejects.toMatchObject({ status: 404 })
  })

  it("keeps the links of the person who moves, and ends those of others", async () => {
    const { _id } = await uploadFile(olga, aFile("a.txt"), { spaceId })
    const own = await createLink(edith, fileLinks, _id, {})
    const foreign = await createLink(olga, fileLinks, _id, {})
    await moveFiles(edith, { fileIds: [_id] })
    expect(await listLinks(edith, fileLinks, _id)).toEqual([own.share])
    expect(await visit(own.url)).toMatchObject({ file: { fileName: "a.txt" } })
    await expect(visit(foreign.url)).rejects.toThrow()
    await moveFiles(edith, { fileIds: [_id], spaceId })
    expect(await visit(own.url)).toMatchObject({ file: { fileName: "a.txt" } })
    expect(await listLinks(ron, fileLinks, _id)).toEqual([own.share])
  })

  it("counts for the owner of the space, and is refused beyond the owner's quota", async () => {
    await uploadFile(olga, aFile("most.bin", Buffer.alloc(60_000)))
    const { _id } = await uploadFile(edith, aFile("a.bin", Buffer.alloc(50_000)))
    await expect(moveFiles(edith, { fileIds: [_id], spaceId })).rejects.toMatchObject({
      status: 507,
      reason: "not-enough-space-of-owner",
    })
    expect([await usedBy(olga), await usedBy(edith)]).toEqual([60_000, 50_000])
    const small = await uploadFile(edith, aFile("b.bin", Buffer.alloc(40_000)))
    await moveFiles(edith, { fileIds: [small._id], spaceId })
    expect([await usedBy(olga), await usedBy(edith)]).toEqual([100_000, 50_000])
    // The owner's storage does not grow by moving what they pay for.
    const most = await listFiles(olga, QUERY)
    await moveFiles(olga, { fileIds: most.files.map((file) => file._id), spaceId })
    expect(await usedBy(olga)).toBe(100_000)
    await expect(moveFiles(edith, { fileIds: most.files.map((file) => file._id) })).rejects.toMatchObject({
      reason: "not-enough-space",
    })
    expect(await findWrongUsage(drawer)).toEqual([])
  })

  it("of many people at the same moment into one place loses no file and no name", async () => {
    const people = [olga, edith, await drawer.scopeOf("paula"), await drawer.scopeOf("quentin")]
    for (const person of people.slice(2)) await join(drawer.db, spaceId, person, "editor")
    const sets = await Promise.all(
      people.map(async (person) => {
        const names = ["a.txt", "b.txt", "c.txt"]
        const uploaded = await Promise.all(names.map((name) => uploadFile(person, aFile(name))))
        return { person, fileIds: uploaded.map(({ _id }) => _id) }
      }),
    )
    const uploads = Array.from({ length: 4 }, () => uploadFile(olga, aFile("a.txt"), { spaceId }))
    await Promise.all([
      ...sets.map(({ person, fileIds }) => moveFiles(person, { fileIds, spaceId })),
      ...uploads,
    ])
    const names = await namesIn(olga, spaceId)
    expect(names).toHaveLength(16)
    expect(new Set(names).size).toBe(16)
    expect(await findWrongUsage(drawer)).toEqual([])
  })
})

describe("copying files", () => {
  it("out of a space needs only the right to read, and copies no bytes", async () => {
    const { _id } = await uploadFile(olga, aFile("a.txt"), { spaceId })
    const { files: [copy] = [] } = await copyFiles(ron, { fileIds: [_id] })
    expect(copy).toMatchObject({ fileName: "a.txt", mimeType: "text/plain" })
    expect(copy).not.toHaveProperty("spaceId")
    expect(await drawer.db.$count(blobs)).toBe(1)
    expect([await usedBy(olga), await usedBy(ron)]).toEqual([17, 17])
    expect(await findWrongUsage(drawer)).toEqual([])

    await purgeFile(olga, _id)
    const { key } = await findFile(ron, copy?._id ?? "")
    expect(await text((await drawer.blobs.open(key))!)).toBe("What a.txt holds.")
    await purgeFile(ron, copy?._id ?? "")
    expect(await drawer.storedPaths()).toEqual([])
  })

  it("into a space or beside the file gives it another name, without its links", async () => {
    const own = await uploadFile(edith, aFile("a.txt"))
    await createLink(edith, fileLinks, own._id, {})
    const { files: [there] = [] } = await copyFiles(edith, { fileIds: [own._id], spaceId })
    expect(there).toMatchObject({ fileName: "a.txt", spaceId, userId: edith.viewer.user._id })
    expect(await listLinks(edith, fileLinks, there?._id ?? "")).toEqual([])
    await copyFiles(edith, { fileIds: [own._id] })
    expect(await namesIn(edith)).toEqual(["a (1).txt", "a.txt"])
    expect(await namesIn(ron, spaceId)).toEqual(["a.txt"])
  })

  it("is refused beyond the quota of who pays", async () => {
    const { _id } = await uploadFile(olga, aFile("a.bin", Buffer.alloc(60_000)), { spaceId })
    await expect(copyFiles(olga, { fileIds: [_id] })).rejects.toMatchObject({ reason: "not-enough-space" })
    await expect(copyFiles(edith, { fileIds: [_id], spaceId })).rejects.toMatchObject({
      reason: "not-enough-space-of-owner",
    })
    await copyFiles(edith, { fileIds: [_id] })
    expect(await findWrongUsage(drawer)).toEqual([])
    expect(await drawer.db.$count(files)).toBe(2)
  })
})

async function namesIn(scope: Person, place?: string) {
  const { files: found } = await listFiles(scope, { ...QUERY, spaceId: place })
  return found.map(({ fileName }) => fileName)
}

async function usedBy({ viewer }: Person) {
  const [usage] = await drawer.db.select().from(fileUsage).where(eq(fileUsage.userId, viewer.user._id))
  return usage?.used
}

function visit(url: string) {
  return visitShare(drawer, url.split("/").at(-1) ?? "", new Request(url))
}
