import { and, eq, isNull, sql } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { fileUsage, uploads } from "#db/schema/files.ts"
import { users } from "#db/schema/users.ts"
import type { PlanLimits } from "#server/plans/contract.ts"
import { OutOfSpace, TooLarge, TooMany } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { limitsOf } from "#server/plans/limits.ts"
import { requireEditor } from "#server/spaces/access.ts"
import { findEarlier, keepOnce, type Once } from "#server/operations/once.ts"
import { isPaidBy } from "./usage.ts"

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
 * size. What a space stores counts for its owner. With a key that came before, resolves with what was
 * created then, and reserves nothing. Throws `TooLarge`, `OutOfSpace`, `TooMany`, `NotFound` or
 * `Forbidden` for a space, and `Unprocessable` or `Conflict` for a key.
 */
export async function reserveSpace(
  scope: Reserving,
  fileName: string,
  size: AnnouncedSize,
  row: Pick<
    typeof uploads.$inferInsert,
    "expiresAt" | "length" | "fileName" | "metadata" | "spaceId" | "process"
  >,
  once?: Once,
) {
  const userId = scope.viewer.user._id
  const spaceId = row.spaceId ?? null
  return scope.db.transaction(async (tx) => {
    const payer = await findPayer({ ...scope, db: tx }, spaceId)
    const asked = ["upload", row.length ?? null, row.metadata ?? null, fileName, spaceId]
    const earlier = once && (await findEarlier({ ...scope, db: tx }, once, asked))
    if (earlier) return { earlier }
    const limits = limitsOf(scope.config, payer)
    const { largestFile, quota } = limits
    if ("exactly" in size && size.exactly > largestFile) throw tooLarge(fileName, limits)
    const atLeast = "exactly" in size ? size.exactly : 0
    const atMost = "exactly" in size ? size.exactly : Math.min(size.atMost, largestFile)
    await tx.insert(fileUsage).values({ userId: payer.userId }).onConflictDoNothing()
    const own = eq(fileUsage.userId, payer.userId)
    // Locked, so that concurrent uploads cannot exceed the quota together.
    const [usage] = await tx
      .select({ used: fileUsage.used, reserved: fileUsage.reserved, files: fileUsage.files })
      .from(fileUsage)
      .where(own)
      .for("update")
    const others = await countUnfinished(tx, payer.userId)
    if (usage && usage.files + others >= limits.files) throw tooManyFiles(fileName, limits, spaceId)
    const left = usage ? quota - usage.used - usage.reserved : 0
    if (left < atLeast) throw overQuota(fileName, limits, spaceId)
    const reserved = Math.min(atMost, left)
    // The rule `count_changed_upload` counts what is reserved for a space.
    if (spaceId === null)
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
    if (once) await keepOnce({ ...scope, db: tx }, once, asked, { uploadId: upload._id })
    return { _id: upload._id, key, reserved, limits }
  })
}

/**
 * Who pays for what is stored in the place, and their plan. Throws `NotFound` or `Forbidden` for a
 * space to which the viewer may not add.
 */
export async function findPayer(scope: { db: Database } & Scope<"viewer">, spaceId: string | null) {
  const { user, session } = scope.viewer
  if (spaceId === null) return { userId: user._id, plan: session.plan }
  await requireEditor(scope, spaceId)
  const [payer] = await scope.db
    .select({ userId: users._id, plan: users.plan })
    .from(users)
    .where(eq(users._id, sql`(select payer_in_space(${spaceId}))`))
  if (!payer) throw new Error(`Space ${spaceId} has no owner.`)
  return { ...payer, plan: payer.plan ?? "free" }
}

/** Uploads that will become files of the payer. */
export function countUnfinished(db: Database, payerId: string): Promise<number> {
  return db.$count(uploads, and(isNull(uploads.fileId), isPaidBy(payerId, uploads)))
}

export function tooManyFiles(
  fileName: string,
  { files: most }: Pick<PlanLimits, "files">,
  spaceId: string | null,
) {
  return new OutOfSpace(spaceId === null ? "too-many-files" : "too-many-files-of-owner", { fileName, most })
}

export function tooLarge(fileName: string, { largestFile }: Pick<PlanLimits, "largestFile">) {
  return new TooLarge("file-too-large", { fileName, largest: { bytes: largestFile } })
}

export function overQuota(fileName: string, { quota }: Pick<PlanLimits, "quota">, spaceId: string | null) {
  return new OutOfSpace(spaceId === null ? "not-enough-space" : "not-enough-space-of-owner", {
    fileName,
    quota: { bytes: quota },
  })
}

export function overQuotaTogether(
  count: number,
  size: number,
  { quota }: Pick<PlanLimits, "quota">,
  spaceId: string | null,
) {
  return new OutOfSpace(
    spaceId === null ? "not-enough-space-together" : "not-enough-space-of-owner-together",
    {
      count,
      size: { bytes: size },
      quota: { bytes: quota },
    },
  )
}
