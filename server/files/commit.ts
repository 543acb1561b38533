import { and, eq, isNotNull, sql } from "drizzle-orm"
import * as v from "valibot"
import type { Transaction } from "#db/client.ts"
import { blobs, files, fileUsage, uploads, type File } from "#db/schema/files.ts"
import { Conflict } from "#server/errors.ts"
import { requireEditor } from "#server/spaces/access.ts"
import type { StoredBlob } from "#server/ports/blobs.ts"
import type { Scope } from "#server/scope.ts"
import type { FileSummary } from "./contract.ts"
import { findFreeNumber } from "./free-name.ts"
import { summary, summaryOf } from "./list.ts"
import { numberedName } from "./names.ts"
import { keepOutcome, REMEMBERED } from "#server/operations/once.ts"
import { UploadMetadata } from "./upload-metadata.ts"

/**
 * Turns the upload into the file, in one transaction: the bytes are never without a row that refers
 * to them. Throws `Conflict` if the upload was given up in the meantime, and `NotFound` or `Forbidden`
 * if its user may no longer add to its space.
 */
export function commitFile(
  { db }: Scope<"db">,
  uploadId: string,
  stored: StoredBlob,
  file: { fileName: string; mimeType: string; modifiedAt?: number | undefined },
): Promise<FileSummary> {
  return db.transaction(async (tx) => {
    const unfinished = and(eq(uploads._id, uploadId), isNotNull(uploads.key))
    const [place] = await tx
      .select({ userId: uploads.userId, spaceId: uploads.spaceId })
      .from(uploads)
      .where(unfinished)
    if (!place?.userId) throw givenUp()
    const { userId, spaceId } = place
    // Memberships are locked before everything else.
    if (spaceId !== null) await requireEditor({ db: tx, viewer: { user: { _id: userId } } }, spaceId)
    const [upload] = await tx.select().from(uploads).where(unfinished).for("update")
    if (!upload?.key || upload.userId !== userId || upload.spaceId !== spaceId) throw givenUp()
    const [blob] = await tx
      .insert(blobs)
      .values({ key: upload.key, ...stored })
      .returning()
    if (!blob) throw new Error("The database returned no row for the new blob.")
    const { size } = stored
    const modifiedAt = file.modifiedAt ?? modifiedIn(upload.metadata)
    const row = await insertUnderFreeName(tx, {
      ...file,
      modifiedAt,
      userId,
      spaceId,
      storageId: blob._id,
      size,
    })
    await closeUpload(tx, upload, { file: row, sha256: stored.sha256 })
    // What is in a space is counted by the rule `count_changed_files`.
    if (spaceId !== null) return row
    // Last, because all of the user's uploads wait for this row.
    await tx
      .update(fileUsage)
      .set({
        used: sql`${fileUsage.used} + ${size}`,
        reserved: sql`${fileUsage.reserved} - ${upload.reserved}`,
      })
      .where(eq(fileUsage.userId, userId))
    return row
  })
}

/** Of a resumable upload, which has been checked when it was created. */
function modifiedIn(metadata: string | null): number | undefined {
  const read = v.safeParse(UploadMetadata, metadata)
  return read.success ? read.output.modifiedAt : undefined
}

export function givenUp() {
  return new Conflict("upload-too-slow")
}

/** What a key leads to that was sent with an upload in one request. */
export interface StoredOnce {
  file: FileSummary
  /** Of its bytes, in hex. */
  sha256: string
}

/** An upload in one request gets its outcome in the response; that of a resumable one is stored. */
async function closeUpload(tx: Transaction, upload: typeof uploads.$inferSelect, outcome: StoredOnce) {
  const here = eq(uploads._id, upload._id)
  await keepOutcome(tx, upload._id, upload.length === null ? outcome : null)
  if (upload.length === null) return tx.delete(uploads).where(here)
  const { _id: fileId } = outcome.file
  const expiresAt = Date.now() + REMEMBERED
  await tx.update(uploads).set({ fileId, key: null, reserved: 0, expiresAt }).where(here)
}

/**
 * `a.txt`, or `a (1).txt` if that is taken, and so on. If another request takes the name at the
 * same moment, this tries again.
 */
async function insertUnderFreeName(
  tx: Transaction,
  file: typeof files.$inferInsert & Pick<File, "userId" | "spaceId">,
): Promise<FileSummary> {
  const [plain] = await tx.insert(files).values(file).onConflictDoNothing().returning(summary)
  if (plain) return summaryOf(plain)
  for (let number = await findFreeNumber({ db: tx }, file); ; number++) {
    const [numbered] = await tx
      .insert(files)
      .values({ ...file, fileName: numberedName(file.fileName, number) })
      .onConflictDoNothing()
      .returning(summary)
    if (numbered) return summaryOf(numbered)
  }
}
