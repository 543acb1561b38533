import { randomBytes } from "node:crypto"
import { buffer } from "node:stream/consumers"
import { sql } from "drizzle-orm"
import { afterEach, describe, expect, it } from "vitest"
import { blobs, files, fileUsage, uploads } from "#db/schema/files.ts"
import { users } from "#db/schema/users.ts"
import { kindOf, KINDS, SORTS, type FileSummary, type Kind } from "#server/files/contract.ts"
import { findFile, findUsage, readFileText, renameFile, searchFiles } from "#server/files/files.ts"
import { listFiles } from "#server/files/list.ts"
import { sweep } from "#server/files/sweep.ts"
import { purgeFile } from "#server/files/trash.ts"
import { numberedName } from "#server/files/names.ts"
import { uploadFile } from "#server/files/upload.ts"
import { aFile, inPieces } from "../support/file-drawer.ts"
import { withDrawer } from "../support/with-drawer.ts"

const NOBODYS = "01999999-9999-7999-8999-999999999999"
const DAY = 24 * 60 * 60 * 1000

const { drawer, ada, grace } = withDrawer({
  settings: { FILES_MAX_SIZE: "100KB", FILES_QUOTA_FREE: "1MB", FILES_QUOTA_PRO: "2MB" },
  people: { ada: "free", grace: "pro" },
})

describe("an upload", () => {
  it("becomes a file with the bytes that were sent", async () => {
    const bytes = randomBytes(90_000)
    const file = await uploadFile(ada, aFile("noise.bin", bytes))
    expect(file).toMatchObject({ fileName: "noise.bin", mimeType: "application/octet-stream", size: 90_000 })
    const { key } = await findFile(ada, file._id)
    const stream = await drawer.blobs.open(key)
    expect(stream && (await buffer(stream))).toEqual(bytes)
    expect(await findUsage(ada)).toEqual({
      used: 90_000,
      trashed: 0,
      quota: 1_000_000,
      files: 1,
      mostFiles: 10_000,
    })
    expect(await drawer.db.$count(uploads)).toBe(0)
  })

  it("of unknown size is accepted", async () => {
    const bytes = inPieces(Buffer.from("of unknown size"))
    expect(await uploadFile(ada, { fileName: "a.txt", bytes, size: { atMost: Infinity } })).toMatchObject({
      size: 15,
    })
    expect(await drawer.usage()).toEqual([{ used: 15, reserved: 0 }])
  })

  it("may be empty", async () => {
    expect(await uploadFile(ada, aFile("empty.txt", ""))).toMatchObject({ size: 0, mimeType: "text/plain" })
  })

  it.each([
    ["photo.txt", PNG(), "image/png"],
    ["page.png", "<!doctype html><script>alert(1)</script>", "text/plain"],
    ["page.html", "<!doctype html><script>alert(1)</script>", "text/html"],
    ["drawing.svg", "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "image/svg+xml"],
    ["notes.md", "# Notes", "text/markdown"],
    ["email", "Grüße aus 東京", "text/plain"],
    ["document.doc", "%PDF-1.7\n%âãÏÓ", "application/pdf"],
    ["binary.txt", Buffer.from([1, 2, 3, 0, 255]), "application/octet-stream"],
    ["latin1.txt", Buffer.from("Gr\xFC\xDFe", "latin1"), "text/plain"],
  ])("called %s gets its type from its bytes", async (fileName, content, mimeType) => {
    expect(await uploadFile(ada, aFile(fileName, content))).toMatchObject({ fileName, mimeType })
  })

  it("picks a free name if its own is taken, even by one that only looks the same", async () => {
    const names = ["été.txt", "e\u0301te\u0301.txt", "folder/été.txt"]
    const uploaded: FileSummary[] = []
    for (const name of names) uploaded.push(await uploadFile(ada, aFile(name)))
    expect(uploaded.map((file) => file.fileName)).toEqual(["été.txt", "été (1).txt", "été (2).txt"])
    expect(await uploadFile(grace, aFile("été.txt"))).toMatchObject({ fileName: "été.txt" })
  })

  it("takes the first free number, also if the name is cut to make space for it", async () => {
    for (const name of ["a.txt", `${"x".repeat(251)}.txt`]) {
      const numbered = [name, ...[1, 2, 3, 9, 10, 11].map((number) => numberedName(name, number))]
      for (const fileName of numbered) await uploadFile(ada, aFile(fileName))
      const taken: string[] = []
      for (let count = 0; count < 7; count++) taken.push((await uploadFile(ada, aFile(name))).fileName)
      expect(taken).toEqual([4, 5, 6, 7, 8, 12, 13].map((number) => numberedName(name, number)))
    }
  })

  it("gets a distinct name if a dozen with the same name arrive concurrently", async () => {
    const sent = await Promise.all(
      Array.from({ length: 12 }, () => uploadFile(ada, aFile("same.txt", "same"))),
    )
    const names = new Set(sent.map((file) => file.fileName))
    expect(names).toHaveLength(12)
    expect(names).toContain("same.txt")
    expect(await drawer.usage()).toEqual([{ used: 48, reserved: 0 }])
  })
})

describe("an upload is refused", () => {
  afterEach(async () => {
    expect(await drawer.db.$count(files)).toBe(0)
    expect(await drawer.db.$count(blobs)).toBe(0)
    expect(await drawer.db.$count(uploads)).toBe(0)
    expect(await drawer.storedPaths()).toEqual([])
    for (const usage of await drawer.usage()) expect(usage).toEqual({ used: 0, reserved: 0 })
  })

  it("if its stated size is too large, before it is read", async () => {
    let read = false
    async function* bytes() {
      read = true
      yield Buffer.alloc(1)
    }
    const upload = uploadFile(ada, { fileName: "film.mov", bytes: bytes(), size: { exactly: 100_001 } })
    await expect(upload).rejects.toMatchObject({
      status: 413,
      message: "film.mov is too large. A file can be 100 kB at most.",
    })
    expect(read).toBe(false)
  })

  it("if it turns out to be too large", async () => {
    const bytes = inPieces(Buffer.alloc(100_001))
    const upload = uploadFile(ada, { fileName: "film.mov", bytes, size: { atMost: Infinity } })
    await expect(upload).rejects.toMatchObject({ status: 413 })
  })

  it("if it has more bytes than announced", async () => {
    const bytes = inPieces(Buffer.alloc(50))
    const upload = uploadFile(ada, { fileName: "a.bin", bytes, size: { exactly: 40 } })
    await expect(upload).rejects.toMatchObject({
      status: 400,
      message: "a.bin has more than the 40 bytes that were announced.",
    })
  })

  it("if it has fewer bytes than announced", async () => {
    const bytes = inPieces(Buffer.alloc(30))
    const upload = uploadFile(ada, { fileName: "a.bin", bytes, size: { exactly: 40 } })
    await expect(upload).rejects.toMatchObject({ status: 400, message: "a.bin ended after 30 of 40 bytes." })
  })

  it("if it is cut off", async () => {
    const upload = uploadFile(ada, { fileName: "a.bin", bytes: breakingOff(), size: { exactly: 2000 } })
    await expect(upload).rejects.toThrow("the line went dead")
  })

  it("if it took so long that its reserved space was freed and is no longer available", async () => {
    await expect(
      uploadFile(ada, { fileName: "a", bytes: sweptAway(), size: { exactly: 2000 } }),
    ).rejects.toThrow()
  })

  it("if its row cannot be written after its bytes are stored", async () => {
    await drawer.db.execute(sql`alter table ${files} add constraint refuse check (file_name <> 'refused')`)
    await expect(uploadFile(ada, aFile("refused"))).rejects.toThrow()
    await drawer.db.execute(sql`alter table ${files} drop constraint refuse`)
  })
})

describe("the quota", () => {
  it("depends on the plan", async () => {
    expect(await findUsage(ada)).toEqual({
      used: 0,
      trashed: 0,
      quota: 1_000_000,
      files: 0,
      mostFiles: 10_000,
    })
    expect(await findUsage(grace)).toEqual({
      used: 0,
      trashed: 0,
      quota: 2_000_000,
      files: 0,
      mostFiles: 100_000,
    })
  })

  it("is never exceeded by any number of concurrent uploads", async () => {
    const sent = await Promise.allSettled(
      Array.from({ length: 50 }, (_, number) =>
        uploadFile(ada, aFile(`${number}.bin`, Buffer.alloc(90_000))),
      ),
    )
    const stored = sent.filter((result) => result.status === "fulfilled")
    const refused = sent.filter((result) => result.status === "rejected").map((result) => result.reason)
    expect(stored).toHaveLength(11)
    for (const reason of refused) expect(reason).toMatchObject({ status: 507 })
    expect(await drawer.usage()).toEqual([{ used: 990_000, reserved: 0 }])
    expect(await drawer.storedPaths()).toHaveLength(11)
  })

  it("limits an upload of unknown size to the free space, and returns 507 beyond it", async () => {
    for (let number = 0; number < 10; number++) {
      await uploadFile(ada, aFile(`${number}.bin`, Buffer.alloc(99_000)))
    }
    const unknown = (size: number) =>
      uploadFile(ada, {
        fileName: "last.bin",
        bytes: inPieces(Buffer.alloc(size)),
        size: { atMost: Infinity },
      })
    await expect(unknown(10_001)).rejects.toMatchObject({ status: 507 })
    expect(await unknown(10_000)).toMatchObject({ size: 10_000 })
    await expect(unknown(1)).rejects.toMatchObject({ status: 507 })
    expect(await findUsage(ada)).toEqual({
      used: 1_000_000,
      trashed: 0,
      quota: 1_000_000,
      files: 11,
      mostFiles: 10_000,
    })
  })

  it("exceeded after a downgrade keeps every file readable and refuses new ones", async () => {
    const file = await uploadFile(grace, aFile("kept.txt", "kept"))
    await drawer.db.update(fileUsage).set({ used: 1_500_000 })
    const downgraded = {
      ...grace,
      viewer: { ...grace.viewer, session: { ...grace.viewer.session, plan: "free" as const } },
    }
    expect((await readFileText(downgraded, file._id, 100)).text).toBe("kept")
    await expect(uploadFile(downgraded, aFile("new.txt", ""))).rejects.toMatchObject({ status: 507 })
  })
})

describe("data left by a process that died", () => {
  it("during an upload is removed after the upload expires, and not earlier", async () => {
    const key = drawer.blobs.newKey()
    await drawer.blobs.put(key, inPieces(Buffer.from("half an upload")), { limit: 100 })
    await drawer.db.insert(fileUsage).values({ userId: ada.viewer.user._id, reserved: 500 })
    await drawer.db
      .insert(uploads)
      .values({ userId: ada.viewer.user._id, key, reserved: 500, expiresAt: Date.now() + DAY })

    await sweep(drawer)
    expect(await drawer.storedPaths()).toHaveLength(1)
    expect(await drawer.usage()).toEqual([{ used: 0, reserved: 500 }])

    await sweep(drawer, Date.now() + 2 * DAY)
    expect(await drawer.storedPaths()).toEqual([])
    expect(await drawer.usage()).toEqual([{ used: 0, reserved: 0 }])
    expect(await drawer.db.$count(uploads)).toBe(0)
  })

  it("after a file was removed is swept later", async () => {
    const file = await uploadFile(ada, aFile("a.txt"))
    const brokenStore = { ...drawer.blobs, remove: () => Promise.reject(new Error("the disk is away")) }
    await purgeFile({ ...ada, blobs: brokenStore }, file._id)
    await expect(findFile(ada, file._id)).rejects.toMatchObject({ status: 404 })
    expect(await drawer.storedPaths()).toHaveLength(1)

    await sweep(drawer)
    expect(await drawer.storedPaths()).toHaveLength(1)
    await sweep(drawer, Date.now() + DAY)
    expect(await drawer.storedPaths()).toEqual([])
    expect(await drawer.db.$count(blobs)).toBe(0)
  })

  it("is also swept for a deleted user, without touching anyone else's", async () => {
    await uploadFile(ada, aFile("adas.txt"))
    const kept = await uploadFile(grace, aFile("graces.txt"))
    await drawer.db.delete(users).where(sql`${users._id} = ${ada.viewer.user._id}`)
    await Promise.all([sweep(drawer, Date.now() + DAY), sweep(drawer, Date.now() + DAY)])
    expect(await drawer.storedPaths()).toHaveLength(1)
    expect((await readFileText(grace, kept._id, 100)).text).toBe("What graces.txt holds.")
  })
})

describe("renaming a file", () => {
  it("cleans the new name", async () => {
    const file = await uploadFile(ada, aFile("draft.txt"))
    const renamed = await renameFile(ada, file._id, { fileName: "final\u202E .txt" })
    expect(renamed).toEqual({ ...file, fileName: "final .txt" })
  })

  it("to its own name changes nothing", async () => {
    const file = await uploadFile(ada, aFile("draft.txt"))
    expect(await renameFile(ada, file._id, { fileName: "draft.txt" })).toEqual(file)
  })

  it("to another file's name is a conflict", async () => {
    await uploadFile(ada, aFile("taken.txt"))
    const file = await uploadFile(ada, aFile("draft.txt"))
    const renaming = renameFile(ada, file._id, { fileName: "taken.txt" })
    await expect(renaming).rejects.toMatchObject({
      status: 409,
      message: "You already have a file called taken.txt.",
    })
    expect(await findFile(ada, file._id)).toMatchObject({ fileName: "draft.txt" })
  })
})

describe("removing a file", () => {
  it("removes its bytes and frees its space", async () => {
    const file = await uploadFile(ada, aFile("a.txt"))
    await purgeFile(ada, file._id)
    expect(await drawer.storedPaths()).toEqual([])
    expect(await drawer.db.$count(blobs)).toBe(0)
    expect(await drawer.usage()).toEqual([{ used: 0, reserved: 0 }])
    await expect(purgeFile(ada, file._id)).rejects.toMatchObject({ status: 404 })
  })

  it("counts once if it is requested many times concurrently", async () => {
    const file = await uploadFile(ada, aFile("a.txt", "12345"))
    await uploadFile(ada, aFile("b.txt", "123"))
    const asked = await Promise.allSettled(Array.from({ length: 8 }, () => purgeFile(ada, file._id)))
    expect(asked.filter((result) => result.status === "fulfilled")).toHaveLength(1)
    expect(await drawer.usage()).toEqual([{ used: 3, reserved: 0 }])
  })
})

describe("somebody else's file", () => {
  it.each<[string, (id: string) => Promise<unknown>]>([
    ["found", (id) => findFile(grace, id)],
    ["read", (id) => readFileText(grace, id, 10)],
    ["renamed", (id) => renameFile(grace, id, { fileName: "mine.txt" })],
    ["removed", (id) => purgeFile(grace, id)],
  ])("cannot be %s: it is reported as missing", async (_act, act) => {
    const file = await uploadFile(ada, aFile("private.txt"))
    const answers = await Promise.allSettled([act(file._id), act(NOBODYS), act("no id at all")])
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: "rejected", reason: { status: 404 } })
    }
    const messages = answers.map((answer) => answer.status === "rejected" && String(answer.reason))
    expect(new Set(messages)).toHaveLength(1)
    expect((await readFileText(ada, file._id, 100)).text).toBe("What private.txt holds.")
  })

  it("appears in no list and no search", async () => {
    await uploadFile(ada, aFile("private.txt"))
    expect(await searchFiles(grace, "private")).toEqual([])
    expect(await listFiles(grace, { q: "", sort: "newest", limit: 10 })).toEqual({
      files: [],
      nextCursor: null,
    })
  })
})

describe("the file list", () => {
  const query = { q: "", sort: "newest" as const, limit: 100 }

  it.each([
    ["newest", ["c.txt", "B.txt", "a.txt"]],
    ["oldest", ["a.txt", "B.txt", "c.txt"]],
    ["name", ["a.txt", "B.txt", "c.txt"]],
    ["largest", ["B.txt", "c.txt", "a.txt"]],
  ] as const)("can start with the %s", async (sort, names) => {
    await uploadFile(ada, aFile("a.txt", "1"))
    await uploadFile(ada, aFile("B.txt", "333"))
    await uploadFile(ada, aFile("c.txt", "22"))
    const page = await listFiles(ada, { ...query, sort })
    expect(page.files.map((file) => file.fileName)).toEqual(names)
  })

  it("can be filtered by kind, and each file has exactly one", async () => {
    const contents: Record<Kind, Buffer> = {
      image: Buffer.from("GIF89a\x01\0\x01\0\0\0\0", "latin1"),
      video: Buffer.from("\0\0\0\x18ftypmp42\0\0\0\0mp42isom", "latin1"),
      audio: Buffer.from("fLaC\0\0\0\x22", "latin1"),
      document: Buffer.from("%PDF-1.4\n"),
      text: Buffer.from("plain"),
      archive: Buffer.from("1f8b0800000000000003", "hex"),
      other: Buffer.from([0, 1, 2, 3]),
    }
    for (const kind of KINDS) await uploadFile(ada, aFile(`an ${kind}`, contents[kind]))
    for (const type of KINDS) {
      const { files: found } = await listFiles(ada, { ...query, type })
      expect(found.map(({ fileName }) => fileName)).toEqual([`an ${type}`])
      expect(found.map(({ mimeType }) => kindOf(mimeType))).toEqual([type])
    }
  })

  it.each(SORTS)("is paged without gaps or repeats while files are added and removed: %s", async (sort) => {
    const before: FileSummary[] = []
    // Equal sizes and names are ordered by id.
    for (let number = 0; number < 23; number++) {
      before.push(await uploadFile(ada, aFile(`f${number % 5}.txt`, "x".repeat(number % 3))))
    }
    const gone = before[7]
    if (!gone) throw new Error("The eighth file is missing.")
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await listFiles(ada, { ...query, sort, limit: 4, cursor })
      seen.push(...page.files.map((file) => file._id))
      cursor = page.nextCursor ?? undefined
      if (seen.length === 4) await uploadFile(ada, aFile("new.txt", "new"))
      if (seen.length === 8 && !seen.includes(gone._id)) await purgeFile(ada, gone._id)
    } while (cursor)
    expect(new Set(seen)).toHaveLength(seen.length)
    for (const file of before) if (file !== gone) expect(seen).toContain(file._id)
  })

  it("rejects a cursor that it did not issue", async () => {
    for (const cursor of ["", "nonsense", Buffer.from('["x","y",1]').toString("base64url")]) {
      await expect(listFiles(ada, { ...query, cursor })).rejects.toMatchObject({ status: 400 })
    }
  })

  it("finds a part of a name in any capitalisation, and treats % and _ and \\ literally", async () => {
    await uploadFile(ada, aFile("Summer Holiday.txt"))
    await uploadFile(ada, aFile("100%_done.txt"))
    expect((await searchFiles(ada, "holi")).map((file) => file.fileName)).toEqual(["Summer Holiday.txt"])
    expect((await searchFiles(ada, "%_")).map((file) => file.fileName)).toEqual(["100%_done.txt"])
    expect(await searchFiles(ada, "\\")).toEqual([])
  })
})

describe("the text of a file", () => {
  it("is read up to a limit, and says that there is more", async () => {
    const file = await uploadFile(ada, aFile("long.txt", "0123456789"))
    expect(await readFileText(ada, file._id, 4)).toEqual({
      fileName: "long.txt",
      text: "0123",
      truncated: true,
    })
    expect(await readFileText(ada, file._id, 10)).toMatchObject({ text: "0123456789", truncated: false })
  })

  it("never ends in half a character", async () => {
    const file = await uploadFile(ada, aFile("umlaut.txt", "aü"))
    expect((await readFileText(ada, file._id, 2)).text).toBe("a")
  })

  it("is refused if the bytes are not text", async () => {
    const file = await uploadFile(ada, aFile("photo.png", PNG()))
    await expect(readFileText(ada, file._id, 100)).rejects.toMatchObject({ status: 415 })
  })
})

async function* breakingOff() {
  yield Buffer.alloc(1000)
  throw new Error("the line went dead")
}

/** Bytes of an upload that is aborted while they arrive. */
async function* sweptAway() {
  yield Buffer.alloc(1000)
  await sweep(drawer, Date.now() + DAY)
  expect(await drawer.usage()).toEqual([{ used: 0, reserved: 0 }])
  yield Buffer.alloc(1000)
}

function PNG() {
  return Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
    "base64",
  )
}
