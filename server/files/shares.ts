import { randomUUID } from "node:crypto"
import { and, desc, eq } from "drizzle-orm"
import * as v from "valibot"
import type { Database } from "#db/client.ts"
import { files, fileShares, type FileShare } from "#db/schema/files.ts"
import { Conflict, NotFound } from "#server/errors.ts"
import { hashLinkPassword } from "#server/links/password.ts"
import { createLinkToken, repeatLinkToken } from "#server/links/token.ts"
import type { Scope } from "#server/scope.ts"
import { editableFiles, editableShares, readableFiles, readableShares, refuseReader } from "./access.ts"
import { FileId, ShareId, type NewShare, type ShareFile, type ShareSummary } from "./contract.ts"
import { createOnce, type Once } from "./once.ts"

/** Links to one file. */
const MOST_SHARES = 100

/**
 * Creates a public link to a file. Its URL is in the response and nowhere else: with a key that came
 * before, it is computed again. Throws `NotFound`, `Forbidden` for a file that the viewer may only
 * read, `Conflict` for one link too many, and `Unprocessable` or `Conflict` for a key.
 */
export async function shareFile(
  scope: Scope<"db" | "config" | "viewer">,
  fileId: string,
  limits: ShareFile,
  once?: Once,
): Promise<NewShare> {
  if (!v.is(FileId, fileId)) throw new NotFound("file")
  const passwordHash = limits.password ? await hashLinkPassword(limits.password) : null
  const salt = randomUUID()
  const kept = once ? repeatLinkToken(scope.config, salt) : createLinkToken()
  const created = await scope.db.transaction((tx) => {
    const inside = { ...scope, db: tx }
    return createOnce(inside, once, ["share", fileId, limits], async () => ({
      share: await insertShare(inside, fileId, { ...limits, ...kept, passwordHash }),
      salt,
    }))
  })
  const { token } = created.salt === salt ? kept : repeatLinkToken(scope.config, created.salt)
  return { share: created.share, url: `${scope.config.origin}/share/${token}` }
}

async function insertShare(
  scope: { db: Database } & Scope<"viewer">,
  fileId: string,
  {
    expiresAt,
    maxDownloads,
    tokenHash,
    hint,
    passwordHash,
  }: ShareFile & Pick<FileShare, "tokenHash" | "hint" | "passwordHash">,
): Promise<ShareSummary> {
  const { db, viewer } = scope
  const here = and(eq(files._id, fileId), eq(files.trashed, false))
  // Locked, so that concurrent requests count the links one after the other, and none is created
  // for a file that has just been deleted.
  const [file] = await db
    .select({ _id: files._id })
    .from(files)
    .where(and(editableFiles(scope), here))
    .for("no key update")
  if (!file) {
    await refuseReader(scope, here)
    throw new NotFound("file")
  }
  if ((await db.$count(fileShares, eq(fileShares.fileId, fileId))) >= MOST_SHARES)
    throw new Conflict("too-many-links", { most: MOST_SHARES })
  const [made] = await db
    .insert(fileShares)
    .values({
      userId: viewer.user._id,
      fileId,
      tokenHash,
      hint,
      expiresAt: expiresAt ?? null,
      passwordHash,
      maxDownloads: maxDownloads ?? null,
    })
    .returning()
  if (!made) throw new Error("The database returned no row for the new link.")
  return shareSummary(made)
}

/** The links to a file that the viewer may see, newest first. Throws `NotFound`. */
export async function listShares(scope: Scope<"db" | "viewer">, fileId: string): Promise<ShareSummary[]> {
  if (!v.is(FileId, fileId)) throw new NotFound("file")
  const [file] = await scope.db
    .select({ _id: files._id })
    .from(files)
    .where(and(readableFiles(scope, { trashed: false }), eq(files._id, fileId)))
  if (!file) throw new NotFound("file")
  const shares = await scope.db
    .select()
    .from(fileShares)
    .where(and(readableShares(scope), eq(fileShares.fileId, fileId)))
    .orderBy(desc(fileShares._id))
  return shares.map(shareSummary)
}

/** Invalidates the URL; a download that has begun continues. Throws `NotFound`, `Forbidden`. */
export async function revokeShare(scope: Scope<"db" | "viewer">, shareId: string): Promise<void> {
  if (!v.is(ShareId, shareId)) throw new NotFound("link")
  const [revoked] = await scope.db
    .delete(fileShares)
    .where(and(editableShares(scope), eq(fileShares._id, shareId)))
    .returning({ _id: fileShares._id })
  if (revoked) return
  const [seen] = await scope.db
    .select({ fileId: fileShares.fileId })
    .from(fileShares)
    .where(and(readableShares(scope), eq(fileShares._id, shareId)))
  if (seen) await refuseReader(scope, eq(files._id, seen.fileId))
  throw new NotFound("link")
}

/** A link as its owner sees it: without its hashes. */
export function shareSummary({
  _id,
  _creationTime,
  fileId,
  hint,
  expiresAt,
  passwordHash,
  maxDownloads,
  downloads,
}: Omit<FileShare, "userId" | "tokenHash">): ShareSummary {
  const hasPassword = passwordHash !== null
  return { _id, _creationTime, fileId, hint, expiresAt, maxDownloads, downloads, hasPassword }
}
