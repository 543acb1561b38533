import { buffer } from "node:stream/consumers"
import { and, eq, ne, sql } from "drizzle-orm"
import { blobs, fileUsage, files } from "#db/schema/files.ts"
import { Conflict, NotFound, requireRow, PreconditionFailed, UnsupportedType } from "#server/errors.ts"
import { limitsOf } from "#server/plans/limits.ts"
import type { Scope } from "#server/scope.ts"
import { isInPlace } from "#server/spaces/access.ts"
import { isUnmet } from "#server/transport/conditional.ts"
import { editableFiles, filesIn, readableFiles, refuseReader } from "./access.ts"
import { isTextType, usageOf, type FileSummary, type FileUsage, type RenameFile } from "./contract.ts"
import { listFiles, summary, summaryOf } from "./list.ts"
import { isFile } from "./matching.ts"
import { cleanFileName } from "./names.ts"
import { readStored } from "./read-stored.ts"
import { decodeText } from "./text-contract.ts"

/** The viewer's own newest files whose name contains `text`, ignoring capitalisation. */
export async function searchFiles(scope: Scope<"db" | "viewer">, text: string): Promise<FileSummary[]> {
  const page = await listFiles(scope, { q: text, sort: "newest", limit: 20 })
  return page.files
}

/** A file that the viewer may see, and where its bytes are. Throws `NotFound`. */
export async function findFile(scope: Scope<"db" | "viewer">, id: string) {
  const found = scope.db
    .select({ ...summary, key: blobs.key, sha256: blobs.sha256 })
    .from(files)
    .innerJoin(blobs, eq(blobs._id, files.storageId))
    .where(and(readableFiles(scope, { trashed: false }), isFile(id)))
  return requireRow(found, "file")
}

/**
 * Throws `PreconditionFailed` if `If-Match` names another file than this one. Nothing can change in
 * between: the bytes of a file never change. What does not exist is left to the change itself.
 */
export async function requireMatch(
  scope: Scope<"db" | "viewer">,
  { fileId = "" }: Readonly<Record<string, string>>,
  headers: Headers,
): Promise<void> {
  if (!headers.has("if-match")) return
  const [file] = await scope.db
    .select({ sha256: blobs.sha256 })
    .from(files)
    .innerJoin(blobs, eq(blobs._id, files.storageId))
    .where(and(readableFiles(scope), isFile(fileId)))
  if (file && isUnmet(headers, `"${file.sha256}"`)) throw new PreconditionFailed("precondition-failed")
}

/** Throws `Conflict` if another file of its place has the name, `NotFound`, and `Forbidden`. */
export async function renameFile(
  scope: Scope<"db" | "viewer">,
  id: string,
  { fileName }: RenameFile,
): Promise<FileSummary> {
  const name = cleanFileName(fileName)
  const here = and(isFile(id), eq(files.trashed, false))
  // In its own transaction, or a savepoint if one is open: after a refusal the other file can still
  // be looked up.
  const [renamed] = await scope.db
    .transaction((tx) =>
      tx
        .update(files)
        .set({ fileName: name })
        .where(and(editableFiles({ ...scope, db: tx }), here))
        .returning(summary),
    )
    .catch(async (error: unknown) => {
      if (await isTaken(scope, id, name)) throw new Conflict("file-name-taken", { fileName: name })
      throw error
    })
  if (!renamed) {
    await refuseReader(scope, here)
    throw new NotFound("file")
  }
  return summaryOf(renamed)
}

async function isTaken(scope: Scope<"db" | "viewer">, id: string, fileName: string) {
  const [file] = await scope.db
    .select({ spaceId: files.spaceId })
    .from(files)
    .where(and(readableFiles(scope), isFile(id)))
  const place = filesIn(scope, file?.spaceId ?? undefined)
  const [other] = await scope.db
    .select({ _id: files._id })
    .from(files)
    .where(and(place, eq(files.fileName, fileName), ne(files._id, id)))
  return other !== undefined
}

/**
 * The space that the viewer's files take, including uploads in progress and the trash, and their
 * quota.
 */
export async function findUsage(scope: Scope<"db" | "config" | "viewer">): Promise<FileUsage> {
  const [stored] = await scope.db
    .select({
      used: fileUsage.used,
      reserved: fileUsage.reserved,
      trashed: fileUsage.trashed,
      files: fileUsage.files,
    })
    .from(fileUsage)
    .where(eq(fileUsage.userId, scope.viewer.user._id))
  return usageOf(stored, limitsOf(scope.config, scope.viewer.session))
}

/**
 * What the files of a space take, and its trash's part of it, in bytes. What its owner stores
 * elsewhere concerns nobody else. Nothing for somebody who is no member.
 */
export async function findSpaceUsage(
  scope: Scope<"db" | "viewer">,
  spaceId: string,
): Promise<Pick<FileUsage, "used" | "trashed">> {
  const [sum] = await scope.db
    .select({
      used: sql<number>`coalesce(sum(${files.size}), 0)::float8`,
      trashed: sql<number>`coalesce(sum(${files.size}) filter (where ${files.trashed}), 0)::float8`,
    })
    .from(files)
    .where(isInPlace(scope, files, spaceId))
  return sum ?? { used: 0, trashed: 0 }
}

/**
 * The beginning of a text file, at most `limit` bytes. Throws `UnsupportedType` for other types,
 * `NotFound`, and `Unavailable` if its bytes are missing or damaged.
 */
export async function readFileText(
  scope: Scope<"db" | "blobs" | "log" | "viewer">,
  id: string,
  limit: number,
) {
  const file = await findFile(scope, id)
  if (!isTextType(file.mimeType)) throw new UnsupportedType("file-not-text", { fileName: file.fileName })
  const stream = await readStored(scope, file, { start: 0, end: limit - 1 })
  const text = decodeText(await buffer(stream))
  return { fileName: file.fileName, text, truncated: file.size > limit }
}
