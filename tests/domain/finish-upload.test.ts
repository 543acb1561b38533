import { eq } from "drizzle-orm"
import { expect, it } from "vitest"
import { uploads } from "#db/schema/files.ts"
import { giveUpUpload } from "#server/files/discard.ts"
import { finishUpload } from "#server/files/finish.ts"
import { createUpload, receivePart } from "#server/files/resumable.ts"
import { uploadFile } from "#server/files/upload.ts"
import { inPieces, openFileDrawer } from "../support/file-drawer.ts"
import { withResource } from "../support/with-resource.ts"

const bytes = Buffer.from("cancelled at the end")

const drawer = withResource(openFileDrawer)

it("leaves no bytes of an upload that is cancelled while the store moves them into place", async () => {
  const ada = await drawer.scopeOf("ada")
  const { _id } = await createUpload(ada, { fileName: "late.txt", length: bytes.length, metadata: "" })
  const [upload] = await drawer.db.select().from(uploads).where(eq(uploads._id, _id))
  const key = upload?.key ?? ""
  await drawer.blobs.append(key, 0, inPieces(bytes))

  // A bucket joins the parts internally, and the object exists afterwards even if the upload was
  // removed in the meantime.
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

it("leaves no bytes of a direct upload either, if it expires while they are moved into place", async () => {
  const grace = await drawer.scopeOf("grace")
  const put: typeof drawer.blobs.put = async (...given) => {
    const [upload] = await drawer.db.select().from(uploads)
    if (upload) await giveUpUpload(drawer, upload._id)
    return drawer.blobs.put(...given)
  }
  const sent = { fileName: "late.txt", bytes: inPieces(bytes), size: { exactly: bytes.length } }
  await expect(uploadFile({ ...grace, blobs: { ...drawer.blobs, put } }, sent)).rejects.toMatchObject({
    status: 409,
  })
  expect(await drawer.storedPaths()).toEqual([])
  for (const usage of await drawer.usage()) expect(usage).toEqual({ used: 0, reserved: 0 })
})

it("accepts one of three parts that are sent at the same offset, and answers 409 to the others", async () => {
  const alan = await drawer.scopeOf("alan")
  const size = 100_000
  const { _id } = await createUpload(alan, { fileName: "same.bin", length: size, metadata: "" })
  const outcomes = await Promise.allSettled(
    ["A", "B", "C"].map((content) =>
      receivePart(alan, _id, { offset: 0, body: new Blob([content.repeat(size)]).stream(), size }),
    ),
  )
  const refused = outcomes.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []))
  expect(refused).toHaveLength(2)
  for (const error of refused) expect(error).toMatchObject({ status: 409, reason: "upload-offset-wrong" })
})
