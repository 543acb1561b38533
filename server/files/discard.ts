import { and, eq, lt, sql } from "drizzle-orm"
import { unionAll } from "drizzle-orm/pg-core"
import { mayRemoveBytes } from "#db/backup-locks.ts"
import { blobs, files, fileUsage, uploads } from "#db/schema/files.ts"
import type { Scope } from "#server/scope.ts"

type Discard = Scope<"db" | "blobs" | "log">

interface GivingUp {
  /** Milliseconds since the epoch. An upload whose expiry was extended since then is kept. */
  ifExpiredBefore?: number
}

/**
 * Gives up an upload: deletes its bytes and frees its user's quota. Does nothing if it was finished
 * in the meantime. The row stays locked while the bytes are deleted: a concurrent commit of the
 * file waits, and then finds no row.
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
    // Without a key it is finished, and its bytes belong to a file.
    if (upload.key !== null) await store.remove(upload.key)
    await tx.delete(uploads).where(eq(uploads._id, id))
    // What is reserved for a space is counted by the rule `count_changed_upload`.
    if (upload.userId === null || upload.spaceId !== null) return
    await tx
      .update(fileUsage)
      .set({ reserved: sql`${fileUsage.reserved} - ${upload.reserved}` })
      .where(eq(fileUsage.userId, upload.userId))
  })
}

/**
 * The same if nobody waits for it: whatever cannot be given up now is found by the sweep when it
 * expires.
 */
export async function discardUpload(scope: Discard, id: string, options: GivingUp = {}): Promise<void> {
  try {
    await giveUpUpload(scope, id, options)
  } catch (error) {
    scope.log.error({ err: error, upload: id }, "could not discard an upload; the sweep will try again")
  }
}

/**
 * Deletes bytes that no row refers to. None ever will: a key is in a row before the first byte, and
 * is never reused. Resolves to false if a row refers to them.
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
 * Deletes the unfinished parts of a stored blob: those left by a process that died right after it
 * joined them.
 */
export async function removeRest({ db, blobs: store }: Scope<"db" | "blobs">, key: string): Promise<boolean> {
  if ((await db.$count(blobs, eq(blobs.key, key))) === 0) return false
  await store.removeUnfinished(key)
  return true
}

/**
 * Deletes bytes that no file refers to. The row is locked before the check, so that no new file can
 * refer to them. While a backup is running they stay, and the sweep deletes them later.
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
