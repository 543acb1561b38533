import { sql } from "drizzle-orm"
import { describe, expect, it } from "vitest"
import { blobs, files } from "#db/schema/files.ts"
import { findFile, findUsage, readFileText, renameFile, searchFiles } from "#server/files/files.ts"
import { listFiles } from "#server/files/list.ts"
import { restoreFile, restoreFiles } from "#server/files/restore.ts"
import {
  emptyTrash,
  purgeFile,
  purgeFiles,
  purgeOldTrash,
  trashFile,
  trashFiles,
} from "#server/files/trash.ts"
import { uploadFile } from "#server/files/upload.ts"
import { aFile } from "../support/file-drawer.ts"
import { withDrawer } from "../support/with-drawer.ts"

const NOBODYS = "01999999-9999-7999-8999-999999999999"
const HOUR = 60 * 60 * 1000
const DAY = 24 * HOUR

const { drawer, ada, grace } = withDrawer({
  settings: { FILES_QUOTA_FREE: "100KB", FILES_TRASH_DAYS: "7" },
  people: { ada: "free", grace: "free" },
})

describe("several files", () => {
  it("are trashed, restored and deleted in one call each, and other people's are skipped", async () => {
    const [a, b] = [await uploadFile(ada, aFile("a.txt")), await uploadFile(ada, aFile("b.txt"))]
    const graces = await uploadFile(grace, aFile("c.txt"))
    const ids = [a._id, b._id, graces._id, NOBODYS]
    expect(await trashFiles(ada, { fileIds: ids })).toMatchObject({ count: 2 })
    expect(await namesOf(ada)).toEqual([])
    expect(await namesOf(grace)).toEqual(["c.txt"])

    await uploadFile(ada, aFile("b.txt"))
    expect(await restoreFiles(grace, { fileIds: ids })).toBe(0)
    expect(await restoreFiles(ada, { fileIds: ids })).toBe(2)
    expect((await namesOf(ada)).toSorted()).toEqual(["a.txt", "b (1).txt", "b.txt"])

    expect(await purgeFiles(grace, { fileIds: [a._id, b._id] })).toBe(0)
    expect(await purgeFiles(ada, { fileIds: ids })).toBe(2)
    expect(await namesOf(ada)).toEqual(["b.txt"])
    expect(await namesOf(grace)).toEqual(["c.txt"])
    await expectTrueUsage()
  })
})

describe("a file in the trash", () => {
  it("appears in no list and no search, and cannot be opened", async () => {
    const file = await uploadFile(ada, aFile("plan.txt"))
    await trashFile(ada, file._id)
    expect(await namesOf(ada)).toEqual([])
    expect(await searchFiles(ada, "plan")).toEqual([])
    for (const act of [findFile, (scope: typeof ada, id: string) => readFileText(scope, id, 10), trashFile])
      await expect(act(ada, file._id)).rejects.toMatchObject({ status: 404 })
    await expect(renameFile(ada, file._id, { fileName: "b.txt" })).rejects.toMatchObject({ status: 404 })
  })

  it("counts against the quota until it is purged", async () => {
    const file = await uploadFile(ada, aFile("big.bin", Buffer.alloc(60_000)))
    await trashFile(ada, file._id)
    expect(await findUsage(ada)).toEqual({
      used: 60_000,
      trashed: 60_000,
      quota: 100_000,
      files: 1,
      mostFiles: 10_000,
    })
    await expect(uploadFile(ada, aFile("next.bin", Buffer.alloc(60_000)))).rejects.toMatchObject({
      status: 507,
    })
    await purgeFile(ada, file._id)
    expect(await findUsage(ada)).toEqual({ used: 0, trashed: 0, quota: 100_000, files: 0, mostFiles: 10_000 })
    await expectTrueUsage()
    await uploadFile(ada, aFile("next.bin", Buffer.alloc(60_000)))
    await expectTrueUsage()
  })

  it("leaves its name free for a new file", async () => {
    const file = await uploadFile(ada, aFile("a.txt"))
    await trashFile(ada, file._id)
    expect((await uploadFile(ada, aFile("a.txt"))).fileName).toBe("a.txt")
  })

  it("may share its name with other trashed files", async () => {
    for (let time = 0; time < 3; time++) await trashFile(ada, (await uploadFile(ada, aFile("a.txt")))._id)
    expect(await drawer.db.$count(files)).toBe(3)
  })
})

describe("restoring a file", () => {
  it("returns the same file under its name", async () => {
    const file = await uploadFile(ada, aFile("a.txt"))
    await trashFile(ada, file._id)
    expect(await restoreFile(ada, file._id)).toEqual(file)
    expect((await readFileText(ada, file._id, 100)).text).toBe("What a.txt holds.")
    await expectTrueUsage()
  })

  it("picks another name with the same extension if the name is taken", async () => {
    const first = await uploadFile(ada, aFile("a.tar.gz"))
    await trashFile(ada, first._id)
    await uploadFile(ada, aFile("a.tar.gz"))
    await uploadFile(ada, aFile("a.tar.gz"))
    expect((await restoreFile(ada, first._id)).fileName).toBe("a (2).tar.gz")
    expect(await namesOf(ada)).toEqual(["a (1).tar.gz", "a (2).tar.gz", "a.tar.gz"])
  })

  it("with many of one name gives each a distinct name", async () => {
    const ids: string[] = []
    for (let time = 0; time < 6; time++) {
      const { _id } = await uploadFile(ada, aFile("a.txt"))
      await trashFile(ada, _id)
      ids.push(_id)
    }
    await Promise.all([...ids.map((id) => restoreFile(ada, id)), uploadFile(ada, aFile("a.txt"))])
    expect(await namesOf(ada)).toEqual([
      "a (1).txt",
      "a (2).txt",
      "a (3).txt",
      "a (4).txt",
      "a (5).txt",
      "a (6).txt",
      "a.txt",
    ])
    await expectTrueUsage()
  })

  it("with a name of the maximum length shortens the stem", async () => {
    const name = `${"é".repeat(125)}.txt`
    const file = await uploadFile(ada, aFile(name))
    await trashFile(ada, file._id)
    await uploadFile(ada, aFile(name))
    const { fileName } = await restoreFile(ada, file._id)
    expect(fileName).toMatch(/^é+ \(1\)\.txt$/)
    expect(Buffer.byteLength(fileName)).toBeLessThanOrEqual(255)
  })

  it("that is not in the trash is refused", async () => {
    const file = await uploadFile(ada, aFile("a.txt"))
    await expect(restoreFile(ada, file._id)).rejects.toMatchObject({ status: 404 })
  })
})

describe("purging the trash", () => {
  it("empties the viewer's trash and nothing else", async () => {
    const kept = await uploadFile(ada, aFile("kept.txt"))
    for (const name of ["a.txt", "b.txt"]) await trashFile(ada, (await uploadFile(ada, aFile(name)))._id)
    const graces = await uploadFile(grace, aFile("graces.txt"))
    await trashFile(grace, graces._id)

    expect(await emptyTrash(ada)).toBe(2)
    expect(await emptyTrash(ada)).toBe(0)
    expect(await namesOf(ada)).toEqual(["kept.txt"])
    expect((await restoreFile(grace, graces._id)).fileName).toBe("graces.txt")
    expect(await drawer.storedPaths()).toHaveLength(2)
    expect(await drawer.db.$count(blobs)).toBe(2)
    await expectTrueUsage()
    await purgeFile(ada, kept._id)
    expect(await drawer.storedPaths()).toHaveLength(1)
    await expectTrueUsage()
  })

  it("runs automatically after the configured number of days, and not earlier", async () => {
    const old = await uploadFile(ada, aFile("old.txt"))
    const graces = await uploadFile(grace, aFile("old too.txt"))
    const recent = await uploadFile(ada, aFile("recent.txt"))
    const outside = await uploadFile(ada, aFile("outside.txt"))
    await trashFile(ada, old._id)
    await trashFile(grace, graces._id)
    await trashFile(ada, recent._id)
    await drawer.db.execute(
      sql`update files set trashed_at = trashed_at - ${DAY} where file_name like 'old%'`,
    )
    await purgeOldTrash(drawer, Date.now() + 6 * DAY - HOUR)
    expect(await drawer.db.$count(files)).toBe(4)

    // Two processes in the same hour.
    const then = Date.now() + 6 * DAY + HOUR
    await Promise.all([purgeOldTrash(drawer, then), purgeOldTrash(drawer, then)])
    expect(await drawer.db.$count(files)).toBe(2)
    expect(await drawer.storedPaths()).toHaveLength(2)
    await expectTrueUsage()
    await restoreFile(ada, recent._id)
    expect((await findFile(ada, outside._id)).fileName).toBe("outside.txt")
  })

  it("continues after one batch", async () => {
    const { _id } = await uploadFile(ada, aFile("a.txt", "x"))
    await drawer.db.execute(sql`
      insert into files (storage_id, user_id, file_name, mime_type, size, trashed, trashed_at)
      select storage_id, user_id, 'copy ' || n, mime_type, 0, true, 1 from files, generate_series(1, 1200) n
      where _id = ${_id}`)
    await purgeOldTrash(drawer)
    expect(await drawer.db.$count(files)).toBe(1)
    await expectTrueUsage()
  })
})

describe("somebody else's file in the trash", () => {
  it.each<[string, (id: string) => Promise<unknown>]>([
    ["trashed", (id) => trashFile(grace, id)],
    ["restored", (id) => restoreFile(grace, id)],
    ["purged", (id) => purgeFile(grace, id)],
  ])("cannot be %s: it is reported as missing", async (_act, act) => {
    const file = await uploadFile(ada, aFile("private.txt"))
    const outside = await uploadFile(ada, aFile("outside.txt"))
    await trashFile(ada, file._id)
    for (const id of [file._id, outside._id, NOBODYS, "no id at all"])
      await expect(act(id)).rejects.toMatchObject({ status: 404 })
    expect((await restoreFile(ada, file._id)).fileName).toBe("private.txt")
    expect(await drawer.storedPaths()).toHaveLength(2)
  })
})

async function namesOf(scope: typeof ada) {
  const { files: found } = await listFiles(scope, { q: "", sort: "name", type: undefined, limit: 100 })
  return found.map(({ fileName }) => fileName)
}

/** The stored usage of each user is the sum of the sizes of their files. */
async function expectTrueUsage() {
  const wrong = await drawer.db.execute(sql`
    select u.user_id, u.used, u.reserved, coalesce(sum(f.size), 0) as sizes
    from file_usage u left join files f on f.user_id = u.user_id
    group by u.user_id, u.used, u.reserved having u.used <> coalesce(sum(f.size), 0) or u.reserved <> 0`)
  expect([...wrong]).toEqual([])
}
