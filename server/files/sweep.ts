import { and, eq, lt, notExists, sql } from "drizzle-orm"
import { blobs, files, fileUsage, uploads } from "#db/schema/files.ts"
import type { Scope } from "../scope.ts"

type Sweep = Scope<"db" | "blobs" | "log">

/** Milliseconds. */
const INTERVAL = 10 * 60 * 1000
const BLOB_AGE = 60 * 60 * 1000

/** Removes, every ten minutes, what a process that died left in the blob store. Any number of processes may do it at once. */
export function startSweeping(scope: Sweep) {
  let running = sweep(scope)
  const timer = setInterval(() => {
    running = running.then(() => sweep(scope))
  }, INTERVAL)
  timer.unref()
  return {
    stop() {
      clearInterval(timer)
      return running
    },
  }
}

export async function sweep(scope: Sweep, now = Date.now()): Promise<void> {
  try {
    const expired = await scope.db
      .select({ id: uploads._id })
      .from(uploads)
      .where(lt(uploads.expiresAt, now))
      .limit(1000)
    for (const { id } of expired) await discardUpload(scope, id)

    const unused = await scope.db
      .select({ id: blobs._id })
      .from(blobs)
      .where(and(lt(blobs._creationTime, now - BLOB_AGE), isUnused(scope)))
      .limit(1000)
    for (const { id } of unused) await discardBlob(scope, id)
  } catch (error) {
    scope.log.error({ err: error }, "the blob store could not be swept; the next sweep tries again")
  }
}

/**
 * Gives up an upload: its bytes go, and its user's quota is free again. Does nothing for one that was finished meanwhile.
 * The row stays locked while the bytes are removed: a commit of the file waits here, and then finds the row gone.
 */
export async function discardUpload({ db, blobs: store, log }: Sweep, id: string): Promise<void> {
  try {
    await db.transaction(async (tx) => {
      const [upload] = await tx.select().from(uploads).where(eq(uploads._id, id)).for("update")
      if (!upload) return
      // Without a key it is finished, and its bytes are a file's.
      if (upload.key !== null) await store.remove(upload.key)
      await tx.delete(uploads).where(eq(uploads._id, id))
      if (upload.userId === null) return
      await tx
        .update(fileUsage)
        .set({ reserved: sql`${fileUsage.reserved} - ${upload.reserved}` })
        .where(eq(fileUsage.userId, upload.userId))
    })
  } catch (error) {
    log.error({ err: error, upload: id }, "an upload could not be given up; the sweep tries again")
  }
}

/** Removes bytes that no file refers to. The row is locked before the question is asked, so that no new file can refer to them. */
export async function discardBlob(scope: Sweep, id: string): Promise<void> {
  try {
    await scope.db.transaction(async (tx) => {
      const [blob] = await tx.select().from(blobs).where(eq(blobs._id, id)).for("update")
      if (!blob) return
      const [user] = await tx.select({ _id: files._id }).from(files).where(eq(files.storageId, id)).limit(1)
      if (user) return
      await scope.blobs.remove(blob.key)
      await tx.delete(blobs).where(eq(blobs._id, id))
    })
  } catch (error) {
    scope.log.error({ err: error, blob: id }, "a blob could not be removed; the sweep tries again")
  }
}

function isUnused({ db }: Scope<"db">) {
  return notExists(db.select({ _id: files._id }).from(files).where(eq(files.storageId, blobs._id)))
}
