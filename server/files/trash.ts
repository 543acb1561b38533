import { and, eq, inArray, lt, sql, type SQL } from "drizzle-orm"
import { files, fileUsage } from "#db/schema/files.ts"
import { NotFound } from "#server/errors.ts"
import { startRecurring, type Recurring } from "#server/recurring.ts"
import type { Scope } from "#server/scope.ts"
import { requireEditor } from "#server/spaces/access.ts"
import { editableFiles, refuseReader, trashIn } from "./access.ts"
import type { SelectedFiles, SelectedTrash, Trashed } from "./acts-contract.ts"
import type { Place } from "./contract.ts"
import { discardBlob } from "./discard.ts"
import { isFile, selectedFiles, selectedTrash } from "./matching.ts"

type Purging = Scope<"db" | "blobs" | "log" | "viewer" | "afterCommit">

/** Milliseconds. */
const DAY = 24 * 60 * 60 * 1000

/** Milliseconds. */
const PURGE_INTERVAL = 60 * 60 * 1000

/** Expired files that one transaction purges. */
const AT_ONCE = 500

/**
 * Removes it from every list and URL except the trash, until it expires there. Throws `NotFound`,
 * and `Forbidden` for a file that the viewer may only read.
 */
export async function trashFile(scope: Scope<"db" | "viewer">, id: string): Promise<void> {
  const { count } = await moveToTrash(scope, async () => isFile(id))
  if (count === 0) throw new NotFound("file")
}

/**
 * Deletes it permanently, whether or not it is in the trash. The file is gone with the commit; its
 * bytes follow, and if they cannot be deleted now, the sweep does it later. Throws `NotFound`,
 * `Forbidden`.
 */
export async function purgeFile(scope: Purging, id: string): Promise<void> {
  const count = await purgeNow(scope, (inside) => purgeEditable(inside, isFile(id)))
  if (count === 0) throw new NotFound("file")
}

/**
 * Moves several files to the trash, or all that match, in one transaction. Missing files are
 * skipped. Throws `Forbidden`, and moves none, if the viewer may only read one of them, and for all
 * that match `BadRequest` for too many, and `NotFound` for a space.
 */
export function trashFiles(scope: Scope<"db" | "viewer">, which: SelectedFiles): Promise<Trashed> {
  return moveToTrash(scope, (inside) => selectedFiles(inside, which))
}

function moveToTrash<Asking extends Scope<"db" | "viewer">>(
  scope: Asking,
  select: (inside: Asking) => Promise<SQL | undefined>,
): Promise<Trashed> {
  return scope.db.transaction(async (tx) => {
    const inside = { ...scope, db: tx }
    const here = and(await select(inside), eq(files.trashed, false))
    const trashedAt = Date.now()
    // One statement, because the lock on the sums of their owner, for which uploads wait, is taken
    // at its end.
    const moved = tx.$with("moved").as(
      tx
        .update(files)
        .set({ trashed: true, trashedAt })
        .where(and(editableFiles(inside), here))
        .returning({ _id: files._id }),
    )
    const [sum] = await tx
      .with(moved)
      .select({ count: sql<number>`count(*)::float8` })
      .from(moved)
    // Those that were moved are in the trash by now.
    await refuseReader(inside, here)
    return { count: sum?.count ?? 0, trashedAt }
  })
}

/**
 * Deletes several files permanently, each like `purgeFile`, or all that match in the trash. Missing
 * files are skipped; returns how many were deleted. Throws as `trashFiles` does.
 */
export function purgeFiles(scope: Purging, which: SelectedTrash): Promise<number> {
  return purgeNow(scope, async (inside) => purgeEditable(inside, await selectedTrash(inside, which)))
}

/**
 * Purges the viewer's whole trash, or a space's. Returns how many files there were. Throws
 * `NotFound`, `Forbidden` for a space.
 */
export function emptyTrash(scope: Purging, { spaceId }: Place = {}): Promise<number> {
  return purgeNow(scope, async (inside) => {
    if (spaceId !== undefined) await requireEditor(inside, spaceId)
    return purge(inside, trashIn(inside, spaceId))
  })
}

/** In one transaction. The bytes go after it. */
async function purgeNow(
  scope: Purging,
  work: (inside: Purging) => Promise<readonly Purged[]>,
): Promise<number> {
  const purged = await scope.db.transaction((tx) => work({ ...scope, db: tx }))
  await scope.afterCommit((db) => discardBlobs({ ...scope, db }, purged))
  return purged.length
}

/**
 * Every hour, purges files that have been in the trash for too long (`FILES_TRASH_DAYS`). Any
 * number of processes may run it concurrently.
 */
export function startPurgingTrash(scope: Scope<"db" | "blobs" | "log" | "config">): Recurring {
  return startRecurring(async (stopping) => {
    try {
      await purgeOldTrash(scope, Date.now(), stopping)
    } catch (error) {
      scope.log.error({ err: error }, "could not purge expired files from the trash; will retry in an hour")
    }
  }, PURGE_INTERVAL)
}

/**
 * Purges everybody's files that have been in the trash for as long as the settings allow. Several
 * processes may run it concurrently. If the process is stopping, the sweep deletes the remaining
 * bytes.
 */
export async function purgeOldTrash(
  scope: Scope<"db" | "blobs" | "log" | "config">,
  now = Date.now(),
  stopping?: AbortSignal,
): Promise<void> {
  const since = now - scope.config.files.trashDays * DAY
  for (;;) {
    const due = scope.db
      .select({ _id: files._id })
      .from(files)
      .where(and(files.trashed, lt(files.trashedAt, since)))
      .limit(AT_ONCE)
      .for("update", { skipLocked: true })
    const purged = await purge(scope, inArray(files._id, due))
    await discardBlobs(scope, purged, stopping)
    if (purged.length < AT_ONCE || stopping?.aborted) return
  }
}

interface Purged {
  storageId: string
  userId: string
  spaceId: string | null
  size: number
}

/** Throws `Forbidden`, and purges nothing, if the viewer may only read one of the files. */
async function purgeEditable(scope: Scope<"db" | "viewer">, which: SQL | undefined): Promise<Purged[]> {
  const purged = await purge(scope, and(editableFiles(scope), which))
  await refuseReader(scope, which)
  return purged
}

/** The files' space is free with the same commit. The rule `count_changed_files` counts what is in a space. */
function purge({ db }: Scope<"db">, which: SQL | undefined): Promise<Purged[]> {
  return db.transaction(async (tx) => {
    const purged = await tx.delete(files).where(which).returning({
      storageId: files.storageId,
      userId: files.userId,
      spaceId: files.spaceId,
      size: files.size,
    })
    const freed = new Map<string, number>()
    for (const { userId, spaceId, size } of purged)
      if (spaceId === null) freed.set(userId, (freed.get(userId) ?? 0) + size)
    // In a fixed order, so that two processes do not deadlock.
    for (const [userId, size] of [...freed].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      await tx
        .update(fileUsage)
        .set({ used: sql`${fileUsage.used} - ${size}` })
        .where(eq(fileUsage.userId, userId))
    }
    return purged
  })
}

async function discardBlobs(
  scope: Scope<"db" | "blobs" | "log">,
  purged: readonly Purged[],
  stopping?: AbortSignal,
) {
  for (const { storageId } of purged) {
    if (stopping?.aborted) return
    await discardBlob(scope, storageId)
  }
}
