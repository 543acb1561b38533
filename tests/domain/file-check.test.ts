import { randomBytes } from "node:crypto"
import { mkdir, rm, truncate, utimes, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { eq } from "drizzle-orm"
import { describe, expect, it } from "vitest"
import { blobs, files, fileUsage, uploads } from "#db/schema/files.ts"
import { checkFiles, type Finding } from "#server/files/check.ts"
import { findFile } from "#server/files/files.ts"
import { createUpload, receivePart } from "#server/files/resumable.ts"
import { sweep } from "#server/files/sweep.ts"
import { uploadFile } from "#server/files/upload.ts"
import { aFile, inPieces } from "../support/file-drawer.ts"
import { withDrawer } from "../support/with-drawer.ts"

const HOUR = 60 * 60 * 1000

const { drawer, ada } = withDrawer({ settings: { FILES_QUOTA_FREE: "1MB" }, people: { ada: "free" } })

describe("the file check", () => {
  it("finds nothing if nothing is wrong, with uploads in progress too", async () => {
    await uploadFile(ada, aFile("whole.txt"))
    await uploadFile(ada, aFile("empty.txt", ""))
    await begin("half.txt", 100, 40)
    await begin("nothing yet.txt", 100, 0)
    expect(await findings({ checksums: true })).toEqual([])
    expect(await findings({ checksums: true, now: Date.now() + HOUR })).toEqual([])
  })

  it("finds missing, truncated or changed bytes, and repairs none of them", async () => {
    const [lost, cut, changed] = await Promise.all(
      ["lost.txt", "cut.txt", "changed.txt"].map((name) => uploadFile(ada, aFile(name))),
    )
    await rm(await pathOf(lost))
    await truncate(await pathOf(cut), 3)
    await writeFile(await pathOf(changed), "What changed.txt hides.")
    expect(texts(await findings())).toEqual([
      expect.stringMatching(/^damaged .* has 3 bytes, and its row says 19\. Restore it: npm run files/),
      expect.stringMatching(/^missing .* is not in the store\. It is file .*, "lost\.txt"\. Restore/),
    ])
    const all = await findings({ checksums: true })
    expect(texts(all)).toContainEqual(expect.stringMatching(/^damaged .* another checksum .*"changed\.txt"/))
    expect(all.some((finding) => finding.repair)).toBe(false)
    expect(await drawer.db.$count(files)).toBe(3)
  })

  it("finds and removes bytes that no row references, once they are older than an hour", async () => {
    const kept = await uploadFile(ada, aFile("kept.txt"))
    const key = drawer.blobs.newKey()
    await drawer.blobs.put(key, inPieces(Buffer.from("whose?")), { limit: 100 })
    await drawer.blobs.append(drawer.blobs.newKey(), 0, inPieces(Buffer.from("whose?")))
    expect(await findings()).toEqual([])
    const found = await findings({ now: Date.now() + 2 * HOUR })
    expect(kinds(found)).toEqual(["nameless", "nameless"])
    await repair(found)
    expect(await drawer.storedPaths()).toEqual([await pathOf(kept)])
  })

  it("keeps bytes that were referenced after it looked", async () => {
    const key = drawer.blobs.newKey()
    const stored = await drawer.blobs.put(key, inPieces(Buffer.from("mine")), { limit: 100 })
    const found = await findings({ now: Date.now() + 2 * HOUR })
    expect(kinds(found)).toEqual(["nameless"])
    await drawer.db.insert(blobs).values({ key, ...stored })
    await repair(found)
    expect(await drawer.storedPaths()).toHaveLength(1)
  })

  it("finds bytes without a file, and expired uploads", async () => {
    const file = await uploadFile(ada, aFile("purged.txt"))
    await drawer.db.delete(files).where(eq(files._id, file._id))
    await drawer.db.update(fileUsage).set({ used: 0 })
    await drawer.db.update(blobs).set({ _creationTime: Date.now() - 2 * HOUR })
    await begin("late.txt", 100, 40)
    await drawer.db.update(uploads).set({ expiresAt: Date.now() - 2 * HOUR })
    const found = await findings()
    expect(kinds(found)).toEqual(["unused", "late"])
    await repair(found)
    expect(await findings()).toEqual([])
    expect(await drawer.storedPaths()).toEqual([])
    expect(await drawer.usage()).toEqual([{ used: 0, reserved: 0 }])
  })

  it("finds usage totals that do not add up, and recalculates them", async () => {
    const grace = await drawer.scopeOf("grace")
    await uploadFile(ada, aFile("a.txt"))
    await uploadFile(grace, aFile("b.txt"))
    await begin("half.txt", 100, 40)
    await drawer.db
      .update(fileUsage)
      .set({ used: 7, reserved: 8 })
      .where(eq(fileUsage.userId, ada.viewer.user._id))
    await drawer.db.delete(fileUsage).where(eq(fileUsage.userId, grace.viewer.user._id))
    const found = await findings()
    expect(texts(found).toSorted()).toEqual([
      "miscounted ada@example.org: counted are 1 files, 7 bytes used, 8 reserved and 0 in the trash; in fact 1, 17, 100 and 0.",
      "miscounted grace@example.org: counted are 0 files, 0 bytes used, 0 reserved and 0 in the trash; in fact 1, 17, 0 and 0.",
    ])
    await repair(found)
    expect(await findings()).toEqual([])
  })

  it("ignores keys that this store did not create", async () => {
    const path = join(
      dirname(dirname(dirname(await pathOf(await uploadFile(ada, aFile("a.txt")))))),
      "lost+found",
    )
    await mkdir(path)
    await writeFile(join(path, "note"), "not ours")
    expect(await findings({ now: Date.now() + 2 * HOUR })).toEqual([])
    await rm(path, { recursive: true })
  })
})

describe("the sweep", () => {
  it("completes an upload whose process died after the last byte", async () => {
    const bytes = randomBytes(5000)
    const { _id } = await createUpload(ada, { fileName: "whole.bin", length: 5000, metadata: "" })
    const [row] = await drawer.db.select().from(uploads).where(eq(uploads._id, _id))
    await drawer.blobs.append(row?.key ?? "", 0, inPieces(bytes))
    await sweep(drawer)
    const [file] = await drawer.db.select().from(files)
    expect(file).toMatchObject({ fileName: "whole.bin", size: 5000 })
    expect(await drawer.usage()).toEqual([{ used: 5000, reserved: 0 }])
    await sweep(drawer, Date.now() + 48 * HOUR)
    expect(await drawer.db.$count(uploads)).toBe(0)
    expect(await findings({ checksums: true })).toEqual([])
  })

  it("frees the space of an abandoned upload, and not too early", async () => {
    await begin("half.txt", 100, 40)
    await sweep(drawer, Date.now() + 23 * HOUR)
    expect(await drawer.usage()).toEqual([{ used: 0, reserved: 100 }])
    await sweep(drawer, Date.now() + 25 * HOUR)
    expect(await drawer.usage()).toEqual([{ used: 0, reserved: 0 }])
    expect(await drawer.storedPaths()).toEqual([])
  })

  it("removes what was being written when its upload was removed, an hour later", async () => {
    await drawer.blobs.append(drawer.blobs.newKey(), 0, inPieces(Buffer.from("too late")))
    await sweep(drawer)
    const [path = ""] = await drawer.storedPaths()
    expect(path).not.toBe("")
    const before = new Date(Date.now() - 2 * HOUR)
    await utimes(path, before, before)
    await sweep(drawer)
    expect(await drawer.storedPaths()).toEqual([])
  })
})

async function begin(fileName: string, length: number, received: number) {
  const { _id } = await createUpload(ada, { fileName, length, metadata: "" })
  const body = new Blob([Buffer.alloc(received)]).stream()
  await receivePart(ada, _id, { offset: 0, body, size: received })
}

async function findings(options?: Parameters<typeof checkFiles>[1]): Promise<Finding[]> {
  const found: Finding[] = []
  for await (const finding of checkFiles(drawer, options)) found.push(finding)
  return found
}

async function repair(found: Finding[]) {
  for (const finding of found) await finding.repair?.()
}

function kinds(found: Finding[]) {
  return found.map(({ kind }) => kind)
}

function texts(found: Finding[]) {
  return found.map(({ kind, text }) => `${kind} ${text}`)
}

async function pathOf(file: { _id: string } | undefined) {
  const { key } = await findFile(ada, file?._id ?? "")
  const paths = await drawer.storedPaths()
  return paths.find((path) => path.endsWith(key)) ?? ""
}
