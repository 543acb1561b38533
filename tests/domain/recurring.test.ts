import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest"
import { startPurgingTrash } from "#server/files/trash.ts"
import { trashFile } from "#server/files/trash.ts"
import { uploadFile } from "#server/files/upload.ts"
import { startRecurring } from "#server/recurring.ts"
import { files } from "#db/schema/files.ts"
import { aFile, openFileDrawer, type FileDrawer } from "../support/file-drawer.ts"

describe("recurring work", () => {
  it("does not overlap, nor catch up on missed runs afterwards", async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const slow = Promise.withResolvers<void>()
    let begun = 0
    const work = startRecurring(() => {
      begun += 1
      return slow.promise
    }, 5)
    await vi.advanceTimersByTimeAsync(60)
    expect(begun).toBe(1)
    const stopped = work.stop()
    slow.resolve()
    await stopped
    expect(begun).toBe(1)
  })
})

describe("a process that stops while it purges the trash", () => {
  let drawer: FileDrawer
  beforeAll(async () => {
    drawer = await openFileDrawer()
  })
  afterAll(() => drawer.close())

  it("waits for the bytes that are being removed, and leaves the rest to the sweep", async () => {
    const ada = await drawer.scopeOf("ada")
    for (const name of ["a.txt", "b.txt", "c.txt"])
      await trashFile(ada, (await uploadFile(ada, aFile(name)))._id)
    await drawer.db.update(files).set({ trashedAt: 1 })

    const [removing, removed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const remove: typeof drawer.blobs.remove = async (key) => {
      removing.resolve()
      await removed.promise
      await drawer.blobs.remove(key)
    }
    const purging = startPurgingTrash({ ...drawer, blobs: { ...drawer.blobs, remove } })
    await removing.promise
    const stopped = purging.stop()
    removed.resolve()
    await stopped
    expect(await drawer.storedPaths()).toHaveLength(2)
    expect(await drawer.db.select().from(files)).toEqual([])
  })
})
