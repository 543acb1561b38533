import { eq, isNull } from "drizzle-orm"
import { describe, expect, it } from "vitest"
import { files } from "#db/schema/files.ts"
import { copyFiles } from "#server/files/move.ts"
import type { Sort } from "#server/files/contract.ts"
import { renameFile } from "#server/files/files.ts"
import { listFiles } from "#server/files/list.ts"
import { fillNameKeys } from "#server/files/name-keys.ts"
import { uploadFile } from "#server/files/upload.ts"
import { aFile } from "../support/file-drawer.ts"
import { withDrawer } from "../support/with-drawer.ts"

const { drawer, ada } = withDrawer({ people: { ada: "free" } })

describe("the order by name", () => {
  const inOrder = [
    "%20.txt",
    "2 ways.txt",
    "10 ways.txt",
    "Äpfel 1.txt",
    "apfel 2.txt",
    "Äpfel 010.txt",
    "Apfelmus.txt",
    "Øresund.txt",
    "Strasse 2.txt",
    "Straße 10.txt",
    "v1.9.zip",
    "v1.10.zip",
    "Ёлка.txt",
    "ель.txt",
    "第2章.txt",
    "第10章.txt",
  ]

  it("counts as people do, and puts letters with accents beside those without", async () => {
    for (const name of inOrder.toReversed()) await add(name)
    expect(await names("name")).toEqual(inOrder)
    expect(await names("name-desc")).toEqual(inOrder.toReversed())
  })

  it("follows a new name", async () => {
    const file = await add("b.txt")
    await add("a 1.txt")
    await add("a 3.txt")
    await renameFile(ada, file._id, { fileName: "Ä 2.txt" })
    expect(await names("name")).toEqual(["a 1.txt", "Ä 2.txt", "a 3.txt"])
  })

  it("is the same for files that an older version stored, before and after their keys are filled in", async () => {
    for (const name of inOrder.toReversed()) await add(name)
    await drawer.db.update(files).set({ nameKey: null })
    expect(await names("name")).toEqual(inOrder)
    await fillNameKeys(ada)
    expect(await drawer.db.$count(files, isNull(files.nameKey))).toBe(0)
    expect(await names("name")).toEqual(inOrder)
  })
})

describe("a search for a name", () => {
  it.each([
    ["uber", ["ÜBERSICHT 2026.pdf"]],
    ["ÜBER", ["ÜBERSICHT 2026.pdf"]],
    ["ete", ["été.txt"]],
    ["strasse", ["Straße 7b.txt"]],
    ["e\u0301te\u0301", ["été.txt"]],
    ["pdf 2026", ["ÜBERSICHT 2026.pdf"]],
    ["7b straße", ["Straße 7b.txt"]],
    ["202", ["ÜBERSICHT 2026.pdf"]],
    ["026.pdf", ["ÜBERSICHT 2026.pdf"]],
    ["2026 été", []],
    ["٢", []],
  ])("for %s finds %j", async (q, found) => {
    for (const name of ["ÜBERSICHT 2026.pdf", "été.txt", "Straße 7b.txt"]) await add(name)
    const page = await listFiles(ada, { q, sort: "name", limit: 100 })
    expect(page.files.map(({ fileName }) => fileName)).toEqual(found)
  })
})

describe("the time at which a file was modified", () => {
  it("is stored with it, also with its copies, and is absent if it is unknown", async () => {
    const modifiedAt = Date.UTC(1999, 11, 31, 23, 59, 59, 123)
    const known = await uploadFile(ada, { ...aFile("known.txt"), modifiedAt })
    expect(known).toMatchObject({ modifiedAt })
    expect(await add("unknown.txt")).not.toHaveProperty("modifiedAt")
    expect(await copyFiles(ada, { fileIds: [known._id] })).toMatchObject({ files: [{ modifiedAt }] })
  })

  it("orders a list, in which an unknown one is that of the upload", async () => {
    await uploadFile(ada, { ...aFile("old.txt"), modifiedAt: Date.UTC(2001, 1) })
    await uploadFile(ada, { ...aFile("future.txt"), modifiedAt: Date.UTC(2100, 1) })
    const { _id } = await add("now.txt")
    await drawer.db
      .update(files)
      .set({ _creationTime: Date.UTC(2026, 1) })
      .where(eq(files._id, _id))
    expect(await names("modified")).toEqual(["future.txt", "now.txt", "old.txt"])
    expect(await names("modified-oldest")).toEqual(["old.txt", "now.txt", "future.txt"])
  })
})

it("orders by size both ways", async () => {
  await uploadFile(ada, aFile("two.txt", "22"))
  await uploadFile(ada, aFile("three.txt", "333"))
  await uploadFile(ada, aFile("one.txt", "1"))
  expect(await names("smallest")).toEqual(["one.txt", "two.txt", "three.txt"])
  expect(await names("largest")).toEqual(["three.txt", "two.txt", "one.txt"])
})

function add(name: string) {
  return uploadFile(ada, aFile(name, "1"))
}

/** Two at a time, so that cursors are used. */
async function names(sort: Sort): Promise<string[]> {
  const found: string[] = []
  let cursor: string | undefined
  do {
    const page = await listFiles(ada, { q: "", sort, limit: 2, cursor })
    found.push(...page.files.map(({ fileName }) => fileName))
    cursor = page.nextCursor ?? undefined
  } while (cursor)
  return found
}
