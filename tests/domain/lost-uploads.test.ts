import { expect, it } from "vitest"
import { holdProcessLock } from "#db/process-lock.ts"
import { uploads } from "#db/schema/files.ts"
import { discardLostUploads } from "#server/files/lost-uploads.ts"
import { uploadFile } from "#server/files/upload.ts"
import { aFile } from "../support/file-drawer.ts"
import { withDrawer } from "../support/with-drawer.ts"

const { drawer, ada } = withDrawer({ settings: { FILES_QUOTA_FREE: "1KB" }, people: { ada: "free" } })

/** No process has this number: they begin at 1. */
const DEAD = 0

it("frees the space and the key of an upload whose process died, at the second check", async () => {
  const once = { key: "one" }
  const abandoned = await abandonedUpload(DEAD)
  const again = () => uploadFile(ada, { ...aFile("a.bin", Buffer.alloc(900)), once })
  await expect(again()).rejects.toMatchObject({ status: 409 })
  const suspects = await discardLostUploads(ada, new Set())
  expect(await drawer.usage()).toEqual([{ used: 0, reserved: 900 }])
  await discardLostUploads(ada, suspects)
  expect(await drawer.usage()).toEqual([{ used: 0, reserved: 0 }])
  await again()
  expect(await drawer.usage()).toEqual([{ used: 900, reserved: 0 }])
  abandoned.resolve()
})

it("leaves the upload of a living process alone", async () => {
  const lock = await holdProcessLock(drawer.databaseUrl)
  const living = await abandonedUpload(lock.number)
  await discardLostUploads(ada, await discardLostUploads(ada, new Set()))
  expect(await drawer.db.$count(uploads)).toBe(1)
  living.resolve()
  await living.stored
  await lock.close()
})

/** An upload that has sent half of its 900 bytes. */
async function abandonedUpload(process: number) {
  const arriving = Promise.withResolvers<void>()
  const rest = Promise.withResolvers<void>()
  async function* bytes() {
    yield Buffer.alloc(450)
    arriving.resolve()
    await rest.promise
    yield Buffer.alloc(450)
  }
  const file = { fileName: "a.bin", bytes: bytes(), size: { exactly: 900 }, once: { key: "one" } }
  const stored = uploadFile({ ...ada, process }, file)
  // It is refused if it was discarded.
  const settled = stored.catch(() => {})
  await arriving.promise
  return { resolve: rest.resolve, stored: settled }
}
