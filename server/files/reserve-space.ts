import { and, eq, isNull, sql } from "drizzle-orm"
import { fileUsage, uploads } from "#db/schema/files.ts"
import { OutOfSpace, TooLarge, TooMany } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { limitsOf } from "#server/plans/limits.ts"

/**
 * Bytes. A form only gives its total length, which is an upper limit; a stream of unknown length
 * has `Infinity`.
 */
export type AnnouncedSize = { exactly: number } | { atMost: number }

type Reserving = Scope<"db" | "blobs" | "config" | "viewer">

/** Of one user, at the same time. */
const MOST_UPLOADS = 1000

/**
 * Creates the upload's row. An upload of unknown size reserves what is left, up to the largest file
 * size. Throws `TooLarge`, `OutOfSpace`, `TooMany`.
 */
export async function reserveSpace(
  scope: Reserving,
  fileName: string,
  size: AnnouncedSize,
  row: Pick<typeof uploads.$inferInsert, "expiresAt" | "length" | "fileName" | "metadata">,
) {
  const { largestFile, quota } = limitsOf(scope.config, scope.viewer.session)
  if ("exactly" in size && size.exactly > largestFile) throw tooLarge(fileName, largestFile)
  const atLeast = "exactly" in size ? size.exactly : 0
  const atMost = "exactly" in size ? size.exactly : Math.min(size.atMost, largestFile)

  const userId = scope.viewer.user._id
  return scope.db.transaction(async (tx) => {
    await tx.insert(fileUsage).values({ userId }).onConflictDoNothing()
    const own = eq(fileUsage.userId, userId)
    // Locked, so that concurrent uploads cannot exceed the quota together.
    const [usage] = await tx
      .select({ used: fileUsage.used, reserved: fileUsage.reserved })
      .from(fileUsage)
      .where(own)
      .for("update")
    const left = usage ? quota - usage.used - usage.reserved : 0
    if (left < atLeast) throw overQuota(fileName, quota)
    const reserved = Math.min(atMost, left)
    await tx
      .update(fileUsage)
      .set({ reserved: sql`${fileUsage.reserved} + ${reserved}` })
      .where(own)
    // Counted while the usage row is locked: no other upload of the user can begin now.
    const underWay = await tx.$count(uploads, and(eq(uploads.userId, userId), isNull(uploads.fileId)))
    if (underWay >= MOST_UPLOADS) {
      throw new TooMany("too-many-uploads", { most: MOST_UPLOADS, fileName })
    }
    const key = scope.blobs.newKey()
    const [upload] = await tx
      .insert(uploads)
      .values({ ...row, userId, key, reserved })
      .returning({ _id: uploads._id })
    if (!upload) throw new Error("The database returned no row for the new upload.")
    return { _id: upload._id, key, reserved }
  })
}

export function tooLarge(fileName: string, largestFile: number) {
  return new TooLarge("file-too-large", { fileName, largest: { bytes: largestFile } })
}

export function overQuota(fileName: string, quota: number) {
  return new OutOfSpace("not-enough-space", { fileName, quota: { bytes: quota } })
}
