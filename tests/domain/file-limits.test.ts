import { eq } from "drizzle-orm"
import { beforeEach, describe, expect, it } from "vitest"
import { fileUsage } from "#db/schema/files.ts"
import { spaces } from "#db/schema/spaces.ts"
import { checkFiles, type Finding } from "#server/files/check.ts"
import { findUsage } from "#server/files/files.ts"
import { copyFiles, moveFiles } from "#server/files/move.ts"
import { createUpload, receivePart } from "#server/files/resumable.ts"
import { restoreFile } from "#server/files/restore.ts"
import { purgeFile, trashFile } from "#server/files/trash.ts"
import { uploadFile } from "#server/files/upload.ts"
import { transferSpace } from "#server/spaces/members.ts"
import { aSpace } from "../support/domain-spaces.ts"
import { aFile } from "../support/file-drawer.ts"
import { withDrawer, type Owner as Person } from "../support/with-drawer.ts"

/** On the free plan. */
/** On Pro, and owns the space that both edit. */
let spaceId: string

const { drawer, fay, paul } = withDrawer({
  settings: {
    FILES_COUNT_FREE: "4",
    FILES_COUNT_PRO: "6",
    FILES_MAX_SIZE: "100",
    FILES_MAX_SIZE_PRO: "1000",
  },
  people: { fay: "free", paul: "pro" },
})
beforeEach(async () => {
  spaceId = await aSpace(drawer.db, [paul, "owner"], [fay, "editor"])
})

const FULL = { status: 507, reason: "too-many-files" }
const OWNER_FULL = { status: 507, reason: "too-many-files-of-owner" }
const LARGE = { status: 413, reason: "file-too-large" }

describe("the largest number of files", () => {
  it("ends uploads of any kind, also of empty files, and however many begin at the same time", async () => {
    const uploads = Array.from({ length: 6 }, (_, at) => uploadFile(fay, aFile(`${at}.txt`, "")))
    const resumable = Array.from({ length: 6 }, (_, at) => tusUpload(fay, `part ${at}.txt`))
    const results = await Promise.allSettled([...uploads, ...resumable])
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(4)
    for (const result of results) if (result.status === "rejected") expect(result.reason).toMatchObject(FULL)
    expect(await filesOf(fay)).toBe(4)
  })

  it("counts uploads that are not finished", async () => {
    for (const at of [1, 2, 3, 4])
      await createUpload(fay, { fileName: `${at}.bin`, length: 10, metadata: "" })
    await expect(uploadFile(fay, aFile("more.txt"))).rejects.toMatchObject(FULL)
  })

  it("counts the trash, from which a file is restored without another place", async () => {
    const [first] = await store(fay, 4)
    await trashFile(fay, first)
    await expect(uploadFile(fay, aFile("more.txt"))).rejects.toMatchObject(FULL)
    await restoreFile(fay, first)
    await purgeFile(fay, first)
    await uploadFile(fay, aFile("more.txt"))
    expect(await filesOf(fay)).toBe(4)
  })

  it("ends copying, alone and at the same time, and copies nothing then", async () => {
    const fileIds = await store(fay, 2)
    const copies = await Promise.allSettled([1, 2, 3].map(() => copyFiles(fay, { fileIds })))
    expect(copies.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
    expect(await filesOf(fay)).toBe(4)
    await expect(copyFiles(fay, { fileIds: fileIds.slice(0, 1) })).rejects.toMatchObject(FULL)
    expect(await filesOf(fay)).toBe(4)
  })

  it("counts what is in a space for its owner", async () => {
    const there = await store(fay, 6, spaceId)
    expect([await filesOf(fay), await filesOf(paul)]).toEqual([undefined, 6])
    await expect(uploadFile(fay, aFile("more.txt"), { spaceId })).rejects.toMatchObject(OWNER_FULL)
    const own = await store(fay, 1)
    for (const act of [moveFiles, copyFiles])
      await expect(act(fay, { fileIds: own, spaceId })).rejects.toMatchObject(OWNER_FULL)
    await expect(moveFiles(fay, { fileIds: there.slice(0, 4) })).rejects.toMatchObject(FULL)
    await moveFiles(fay, { fileIds: there.slice(0, 3) })
    expect([await filesOf(fay), await filesOf(paul)]).toEqual([4, 3])
    // From one of one's own places to another.
    await moveFiles(paul, { fileIds: there.slice(3) })
    expect(await filesOf(paul)).toBe(3)
    await drawer.db.delete(spaces)
    expect(await filesOf(paul)).toBe(3)
  })

  it("is checked before a space is handed over", async () => {
    await store(paul, 5, spaceId)
    const to = fay.viewer.user._id
    await expect(transferSpace(paul, spaceId, to)).rejects.toMatchObject({ reason: "member-lacks-space" })
    expect([await filesOf(fay), await filesOf(paul)]).toEqual([undefined, 5])
  })

  it("is shown with the number of files", async () => {
    await store(fay, 3)
    expect(await findUsage(fay)).toMatchObject({ files: 3, mostFiles: 4 })
    expect(await findUsage(paul)).toMatchObject({ files: 0, mostFiles: 6 })
  })

  it("is counted again by the file check", async () => {
    await store(fay, 3)
    await drawer.db.update(fileUsage).set({ files: 1 })
    const found: Finding[] = []
    for await (const one of checkFiles(fay)) found.push(one)
    expect(found).toMatchObject([{ kind: "miscounted", text: expect.stringContaining("1 files") as string }])
    await found[0]?.repair?.()
    expect(await filesOf(fay)).toBe(3)
  })
})

describe("the largest file of a plan", () => {
  it("is that of who pays for the place that a file is copied or moved to", async () => {
    const { _id } = await uploadFile(fay, aFile("large.bin", Buffer.alloc(500)), { spaceId })
    for (const act of [copyFiles, moveFiles])
      await expect(act(fay, { fileIds: [_id] })).rejects.toMatchObject(LARGE)
    const frees = await aSpace(drawer.db, [fay, "owner"], [paul, "editor"])
    for (const act of [copyFiles, moveFiles])
      await expect(act(paul, { fileIds: [_id], spaceId: frees })).rejects.toMatchObject(LARGE)
    expect(await filesOf(fay)).toBeUndefined()
    await copyFiles(paul, { fileIds: [_id] })
    expect(await moveFiles(paul, { fileIds: [_id] })).toMatchObject({ count: 1 })
  })

  it("is checked before a space is handed over", async () => {
    const { _id } = await uploadFile(fay, aFile("large.bin", Buffer.alloc(500)), { spaceId })
    const to = fay.viewer.user._id
    await expect(transferSpace(paul, spaceId, to)).rejects.toMatchObject({ reason: "member-lacks-space" })
    expect(await filesOf(fay)).toBeUndefined()
    await trashFile(paul, _id)
    await purgeFile(paul, _id)
    await transferSpace(paul, spaceId, to)
  })

  it("does not end the moving of a file among places of one person, whose plan was a larger one", async () => {
    const { _id } = await uploadFile(paul, aFile("large.bin", Buffer.alloc(500)))
    const session = { ...paul.viewer.session, plan: "free" } as const
    const downgraded = { ...paul, viewer: { ...paul.viewer, session } }
    expect(await moveFiles(downgraded, { fileIds: [_id], spaceId })).toMatchObject({ count: 1 })
    expect(await moveFiles(downgraded, { fileIds: [_id] })).toMatchObject({ count: 1 })
    await expect(copyFiles(downgraded, { fileIds: [_id] })).rejects.toMatchObject(LARGE)
  })
})

async function store(scope: Person, count: number, place?: string): Promise<[string, ...string[]]> {
  const ids: string[] = []
  for (let at = 0; at < count; at++) {
    const { _id } = await uploadFile(scope, aFile(`stored ${at}.txt`), { spaceId: place })
    ids.push(_id)
  }
  return ids as [string, ...string[]]
}

async function tusUpload(scope: Person, fileName: string) {
  const { _id } = await createUpload(scope, { fileName, length: 3, metadata: "" })
  return receivePart(scope, _id, { offset: 0, body: new Blob(["abc"]).stream(), size: 3 })
}

/** Undefined before their first file. */
async function filesOf({ viewer }: Person) {
  const [usage] = await drawer.db.select().from(fileUsage).where(eq(fileUsage.userId, viewer.user._id))
  return usage?.files
}
