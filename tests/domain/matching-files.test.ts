import { sql } from "drizzle-orm"
import { beforeEach, describe, expect, it } from "vitest"
import { blobs } from "#db/schema/files.ts"
import { archiveFiles } from "#server/files/archive.ts"
import type { TrashedFile } from "#server/files/contract.ts"
import { listFiles } from "#server/files/list.ts"
import { countMatching } from "#server/files/matching.ts"
import { copyFiles, moveFiles } from "#server/files/move.ts"
import { restoreFiles } from "#server/files/restore.ts"
import { purgeFiles, trashFile, trashFiles } from "#server/files/trash.ts"
import { uploadFile } from "#server/files/upload.ts"
import { findWrongUsage } from "#server/files/usage.ts"
import { aSpace } from "../support/domain-spaces.ts"
import { callOperation } from "../support/call-operation.ts"
import { aFile } from "../support/file-drawer.ts"
import { longestBlock } from "../support/longest-block.ts"
import { readZip } from "../support/zip.ts"
import { withDrawer, type Owner as Person } from "../support/with-drawer.ts"

const NOBODYS = "01999999-9999-7999-8999-999999999999"

let spaceId: string

const { drawer, olga, ron } = withDrawer({
  settings: { FILES_QUOTA_FREE: "100KB", FILES_COUNT_FREE: "30000" },
  people: { olga: "free", ron: "free" },
})
beforeEach(async () => {
  spaceId = await aSpace(drawer.db, [olga, "owner"], [ron, "reader"])
})

describe("all files that match", () => {
  it("are those that the list shows for the same search, up to a time, and without some", async () => {
    const tide = await add("tide 1.txt")
    const left = await add("tide 2.txt")
    await add("wind.txt")
    await add("tide.png", PNG)
    await uploadFile(olga, aFile("tide 4.txt"), { spaceId })
    const all = { q: "TIDE", type: "text" } as const
    expect(await countMatching(olga, all)).toEqual({
      count: 2,
      size: tide.size + left.size,
      until: left._creationTime,
    })
    await later(left._creationTime)
    await add("tide 3.txt")
    const trashed = await trashFiles(olga, {
      all: { ...all, until: left._creationTime, except: [left._id] },
    })
    expect(trashed.count).toBe(1)
    expect(await trash()).toEqual(["tide 1.txt"])
    await expectTrueUsage()
  })

  it("come back together, and nothing else with them", async () => {
    for (const name of ["a.txt", "b.txt", "c.txt"]) await add(name)
    await trashFile(olga, (await add("before.txt"))._id)
    await later(Date.now())
    const { count, trashedAt } = await trashFiles(olga, { all: {} })
    expect(count).toBe(3)
    await later(trashedAt)
    await trashFile(olga, (await add("after.txt"))._id)
    await add("b.txt")
    expect(await restoreFiles(olga, { all: { trashedAt } })).toBe(3)
    expect(await names()).toEqual(["a.txt", "b (1).txt", "b.txt", "c.txt"])
    expect((await trash()).toSorted()).toEqual(["after.txt", "before.txt"])
    await expectTrueUsage()
  })

  it("are restored and deleted for good up to the time until which the trash was shown", async () => {
    await trashFile(olga, (await add("a.txt"))._id)
    await trashFile(olga, (await add("b.txt"))._id)
    const [first] = await trashedFiles({ limit: 1 })
    const until = first?.trashedAt ?? 0
    await later(until)
    await trashFile(olga, (await add("c.txt"))._id)
    const [a] = (await trashedFiles()).slice(-1)
    expect(await restoreFiles(olga, { all: { until, except: [a?._id ?? ""] } })).toBe(1)
    expect(await names()).toEqual(["b.txt"])
    expect(await purgeFiles(olga, { all: { until } })).toBe(1)
    expect(await trash()).toEqual(["c.txt"])
    expect(await names()).toEqual(["b.txt"])
    await expectTrueUsage()
  })

  it("are moved, copied and downloaded", async () => {
    for (const name of ["tide 1.txt", "tide 2.txt", "wind.txt"]) await add(name)
    expect(await copyFiles(olga, { all: { q: "tide" }, spaceId })).toEqual({ count: 2 })
    expect(await moveFiles(olga, { all: { q: "tide" }, spaceId })).toEqual({ count: 2 })
    expect(await names()).toEqual(["wind.txt"])
    expect(await names({ spaceId })).toEqual(["tide 1 (1).txt", "tide 1.txt", "tide 2 (1).txt", "tide 2.txt"])
    const response = await archiveFiles(ron, { all: { spaceId, q: "(1)" } })
    const entries = readZip(Buffer.from(await response.arrayBuffer()))
    expect(entries.map(([name]) => name)).toEqual(["tide 1 (1).txt", "tide 2 (1).txt"])
    await expectTrueUsage()
  })

  it("of a space are changed by nobody who may only read there, and not found by others", async () => {
    const file = await uploadFile(olga, aFile("a.txt"), { spaceId })
    const all = { spaceId }
    const grace = await drawer.scopeOf("grace")
    const acts = [
      (who: Person) => trashFiles(who, { all }),
      (who: Person) => restoreFiles(who, { all }),
      (who: Person) => purgeFiles(who, { all }),
      (who: Person) => moveFiles(who, { all }),
    ]
    for (const act of acts) {
      await expect(act(ron)).rejects.toMatchObject({ status: 403, reason: "space-reader" })
      await expect(act(grace)).rejects.toMatchObject({ status: 404 })
    }
    const asks = [
      () => copyFiles(grace, { all }),
      () => countMatching(grace, all),
      () => archiveFiles(grace, { all }),
    ]
    for (const ask of asks) await expect(ask()).rejects.toMatchObject({ status: 404 })
    expect(await copyFiles(ron, { all })).toEqual({ count: 1 })
    expect(await names({ spaceId })).toEqual([file.fileName])
  })

  it("are nobody else's", async () => {
    await add("a.txt")
    expect(await trashFiles(ron, { all: {} })).toMatchObject({ count: 0 })
    await expect(moveFiles(ron, { all: {} })).rejects.toMatchObject({ status: 404 })
    expect(await names()).toEqual(["a.txt"])
  })

  it("are what is left of them when one is gone", async () => {
    const { _id } = await add("a.txt")
    await add("b.txt")
    const { until } = await countMatching(olga, {})
    await purgeFiles(olga, { fileIds: [_id] })
    expect(await trashFiles(olga, { all: { until, except: [NOBODYS] } })).toMatchObject({ count: 1 })
  })

  it("are refused as a whole, in words, when copies do not fit into the quota", async () => {
    await add("a.bin", Buffer.alloc(40_000))
    await add("b.bin", Buffer.alloc(20_000))
    await expect(copyFiles(olga, { all: {}, spaceId })).rejects.toMatchObject({
      status: 507,
      message:
        "There isn't enough space for these 2 files, which take 60 kB. What a space stores counts for its owner, whose files can take 100 kB together.",
    })
    expect(await names({ spaceId })).toEqual([])
    await expectTrueUsage()
  })
})

describe("names that are taken", () => {
  it("get numbers also where some numbers are taken between free ones", async () => {
    for (const name of ["a.txt", "a (2).txt"]) await uploadFile(olga, aFile(name), { spaceId })
    const fileIds: string[] = []
    for (let number = 1; number <= 2; number++) {
      const from = await aSpace(drawer.db, [olga, "owner"])
      fileIds.push((await uploadFile(olga, aFile("a.txt"), { spaceId: from }))._id)
    }
    await moveFiles(olga, { fileIds, spaceId })
    expect(await names({ spaceId })).toEqual(["a (1).txt", "a (2).txt", "a (3).txt", "a.txt"])
  })

  it("are numbered when hundreds of one name come back", async () => {
    await many(600, "'a.txt'", "true")
    await add("a.txt")
    expect(await restoreFiles(olga, { all: {} })).toBe(600)
    const [sum] = await drawer.db.execute<{ names: number; last: string }>(
      sql`select count(distinct file_name)::int as names, max(file_name collate "und-x-icu") filter (where file_name like '%(600)%') as last from files where not trashed`,
    )
    expect(sum).toEqual({ names: 601, last: "a (600).txt" })
  })
})

describe("ten thousand files", () => {
  it("are trashed, restored, copied, moved and deleted without holding the process", async () => {
    await many(10_000, "'Sheet ' || n || '.txt'", "false")
    const { result: trashed, ...trashing } = await longestBlock(() => trashFiles(olga, { all: {} }))
    const { result: restored, ...restoring } = await longestBlock(() =>
      restoreFiles(olga, { all: { trashedAt: trashed.trashedAt } }),
    )
    const { result: copied, ...copying } = await longestBlock(() => copyFiles(olga, { all: {}, spaceId }))
    const { result: moved, ...moving } = await longestBlock(() => moveFiles(olga, { all: {}, spaceId }))
    expect({ trashed: trashed.count, restored, copied, moved }).toEqual({
      trashed: 10_000,
      restored: 10_000,
      copied: { count: 10_000 },
      moved: { count: 10_000 },
    })
    if (process.env["PASSES"]) console.info({ trashing, restoring, copying, moving })
    for (const { milliseconds } of [trashing, restoring, copying, moving])
      expect(milliseconds).toBeLessThan(150)
    expect(await countMatching(olga, { spaceId })).toMatchObject({ count: 20_000 })
    expect(await names({ spaceId, limit: 2 })).toEqual(["Sheet 1 (1).txt", "Sheet 1.txt"])
  })
})

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex")

function add(name: string, content?: Buffer) {
  return uploadFile(olga, aFile(name, content))
}

/** Without bytes, which no test reads. */
async function many(count: number, name: string, trashed: "true" | "false") {
  const [blob] = await drawer.db
    .insert(blobs)
    .values({ key: crypto.randomUUID(), size: 1, sha256: "0".repeat(64) })
    .returning()
  const userId = olga.viewer.user._id
  await drawer.db.execute(sql`insert into file_usage (user_id) values (${userId}) on conflict do nothing`)
  await drawer.db.execute(sql`
    insert into files (storage_id, user_id, file_name, mime_type, size, trashed, trashed_at)
    select ${blob?._id}, ${userId}, ${sql.raw(name)}, 'text/plain', 1, ${sql.raw(trashed)}, (${sql.raw(trashed)})::int
    from generate_series(1, ${count}::int) as n`)
  await drawer.db.execute(sql`update file_usage set used = used + ${count} where user_id = ${userId}`)
}

async function names({ limit = 100, ...place }: { spaceId?: string; limit?: number } = {}) {
  const asked = { q: "", sort: "name", type: undefined, everywhere: undefined, cursor: undefined } as const
  const page = await listFiles(olga, { ...asked, ...place, limit })
  return page.files.map(({ fileName }) => fileName)
}

async function trash() {
  return (await trashedFiles()).map(({ fileName }) => fileName)
}

async function trashedFiles({ limit = 100 } = {}) {
  const page = await callOperation("files.listTrash", olga, { limit })
  return (page as { files: TrashedFile[] }).files
}

/** Until the clock shows another millisecond. */
async function later(than: number) {
  await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(than)
}

async function expectTrueUsage() {
  expect(await findWrongUsage(drawer)).toEqual([])
}
