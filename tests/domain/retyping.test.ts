import { eq } from "drizzle-orm"
import { randomBytes } from "node:crypto"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { files } from "#db/schema/files.ts"
import { findFile } from "#server/files/files.ts"
import { retypeFiles } from "#server/files/retype.ts"
import { serveFile } from "#server/files/serve.ts"
import { uploadFile } from "#server/files/upload.ts"
import { aFile, openFileDrawer } from "../support/file-drawer.ts"

const german = "Müller, Königsallee 12."
const inLatin = Buffer.from(german, "latin1")
const HOUR = 60 * 60 * 1000

it("files whose type an earlier version did not know are looked at again once, and no others", async () => {
  const drawer = await openFileDrawer()
  onTestFinished(() => drawer.close())
  const ada = await drawer.scopeOf("ada")
  const stored = async (name: string, content: Buffer, mimeType = "application/octet-stream") => {
    const { _id } = await uploadFile(ada, aFile(name, content))
    await drawer.db.update(files).set({ mimeType }).where(eq(files._id, _id))
    return _id
  }
  // More than one query reads.
  for (let at = 0; at < 120; at++) await stored(`${at}.bin`, randomBytes(100))
  const table = await stored("table.csv", inLatin)
  const lost = await stored("lost.txt", inLatin)
  const known = await stored("known.txt", inLatin, "text/markdown")
  await drawer.db.update(files).set({ _creationTime: Date.now() - 2 * HOUR })
  await rm(join(drawer.directory, (await findFile(ada, lost)).key))

  const opened: string[] = []
  const open: typeof drawer.blobs.open = (key, range) => {
    opened.push(key)
    return drawer.blobs.open(key, range)
  }
  const scope = { ...ada, blobs: { ...drawer.blobs, open } }
  await retypeFiles(scope, { pause: 0 })
  expect(opened).toHaveLength(121)
  const typeOf = async (id: string) => (await findFile(ada, id)).mimeType
  expect(await typeOf(table)).toBe("text/csv")
  expect(await typeOf(known)).toBe("text/markdown")
  expect(await typeOf(lost)).toBe("application/octet-stream")
  expect(await drawer.db.$count(files, eq(files.mimeType, "application/octet-stream"))).toBe(121)

  // An earlier version that still runs, or runs again, may upload more.
  const later = await stored("later.txt", inLatin)
  await retypeFiles(scope, { pause: 0 })
  expect(await typeOf(later)).toBe("text/plain")
  expect(opened).toHaveLength(122)
})

it.each([
  ["utf-8", Buffer.from(german)],
  ["windows-1252", inLatin],
  ["utf-16le", Buffer.from(german, "utf16le")],
  // Its first character that is not ASCII comes late.
  ["windows-1252", Buffer.concat([Buffer.alloc(10_000, "all plain. "), inLatin])],
])("plain text is served with the encoding that it is in: %s", async (charset, bytes) => {
  const drawer = await openFileDrawer()
  onTestFinished(() => drawer.close())
  const ada = await drawer.scopeOf("ada")
  const { _id } = await uploadFile(ada, aFile("notes.txt", bytes))
  for (const method of ["GET", "HEAD"]) {
    const response = await serveFile(ada, _id, new Request("http://tideline.test/", { method }))
    expect(response.headers.get("content-type")).toBe(`text/plain; charset=${charset}`)
    await response.body?.cancel()
  }
})
