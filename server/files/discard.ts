import { and, eq, lt, sql } from "drizzle-orm"
import { unionAll } from "drizzle-orm/pg-core"
import { mayRemoveBytes } from "#db/backup-locks.ts"
import { blobs, files, fileUsage, uploads } from "#db/schema/files.ts"
import type { Scope } from "#server/scope.ts"

type Discard = Scope<"db" | "blobs" | "log">

interface GivingUp {
  /** Milliseconds since the epoch: one that was given more time since stays. */
  ifExpiredBefore?: number
}

/**
 * Gives up an upload: its bytes are removed, and its user's quota is free again. Does nothing for
 * one that was finished in the meantime. The row stays locked while the bytes are removed: a commit
 * of the file waits here, and then finds the row gone.
 */
export async function giveUpUpload(
  { db, blobs: store }: Scope<"db" | "blobs">,
  id: string,
  { ifExpiredBefore }: GivingUp = {},
): Promise<void> {
  await db.transaction(async (tx) => {
    const isDue = ifExpiredBefore === undefined ? undefined : lt(uploads.expiresAt, ifExpiredBefore)
    const [upload] = await tx
      .select()
      .from(uploads)
      .where(and(eq(uploads._id, id), isDue))
      .for("update")
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
}

/**
 * The same where nobody waits for it: what cannot be given up now, the sweep finds when its time is
 * over.
 */
export async function discardUpload(scope: Discard, id: string, options: GivingUp = {}): Promise<void> {
  try {
    await giveUpUpload(scope, id, options)
  } catch (error) {
    scope.log.error({ err: error, upload: id }, "could not discard an upload; the sweep will try again")
  }
}

/**
 * Removes bytes that no row names. None ever will: a key is in a row before the first byte, and is
 * not used again. False where a row names them.
 */
export async function removeNameless(
  { db, blobs: store }: Scope<"db" | "blobs">,
  key: string,
): Promise<boolean> {
  const [named] = await unionAll(
    db.select({ key: uploads.key }).from(uploads).where(eq(uploads.key, key)),
    db.select({ key: blobs.key }).from(blobs).where(eq(blobs.key, key)),
  )
  if (named) return false
  await store.remove(key)
  return true
}

/**
 * Removes what is unfinished of a stored blob: pieces that its process left when it died right
 * after it put them together.
 */
export async function removeRest({ db, blobs: store }: Scope<"db" | "blobs">, key: string): Promise<boolean> {
  if ((await db.$count(blobs, eq(blobs.key, key))) === 0) return false
  await store.removeUnfinished(key)
  return true
}

/**
 * Removes bytes that no file refers to. The row is locked before the question is asked, so that no
 * new file can refer to them. While a backup runs they stay: the sweep comes for them later.
 */
export async function discardBlob(scope: Discard, id: string): Promise<void> {
  try {
    await scope.db.transaction(async (tx) => {
      const [backup] = await tx.execute<{ allowed: boolean }>(mayRemoveBytes)
      if (!backup?.allowed) return
      const [blob] = await tx.select().from(blobs).where(eq(blobs._id, id)).for("update")
      if (!blob) return
      const [user] = await tx.select({ _id: files._id }).from(files).where(eq(files.storageId, id)).limit(1)
      if (user) return
      await scope.blobs.remove(blob.key)
      await tx.delete(blobs).where(eq(blobs._id, id))
    })
  } catch (error) {
    scope.log.error({ err: error, blob: id }, "could not remove a blob; the sweep will try again")
  }
}
