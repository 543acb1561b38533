import { eq } from "drizzle-orm"
import { afterAll, beforeAll, expect, it } from "vitest"
import { uploads } from "#db/schema/files.ts"
import { giveUpUpload } from "#server/files/discard.ts"
import { finishUpload } from "#server/files/finish.ts"
import { createUpload } from "#server/files/resumable.ts"
import { inPieces, openFileDrawer, type FileDrawer } from "../support/file-drawer.ts"

let drawer: FileDrawer
beforeAll(async () => {
  drawer = await openFileDrawer()
})
afterAll(() => drawer.close())

it("leaves no bytes of an upload that is given up while the store puts them in their place", async () => {
  const ada = await drawer.scopeOf("ada")
  const bytes = Buffer.from("cancelled at the end")
  const { _id } = await createUpload(ada, { fileName: "late.txt", length: bytes.length, metadata: "" })
  const [upload] = await drawer.db.select().from(uploads).where(eq(uploads._id, _id))
  const key = upload?.key ?? ""
  await drawer.blobs.append(key, 0, inPieces(bytes))

  // A bucket joins the pieces within itself, and what was removed meanwhile is there when it is done.
  const finish = async () => {
    await giveUpUpload(drawer, _id)
    return drawer.blobs.put(key, inPieces(bytes), { limit: bytes.length })
  }
  const whole = { _id, key, fileName: "late.txt", length: bytes.length }
  await expect(finishUpload({ ...ada, blobs: { ...drawer.blobs, finish } }, whole)).rejects.toMatchObject({
    status: 409,
  })
  expect(await drawer.storedPaths()).toEqual([])
  expect(await drawer.usage()).toEqual([{ used: 0, reserved: 0 }])
})
