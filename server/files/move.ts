import { and, asc, eq, gt, inArray, isNull, ne, sql } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { files, fileShares, fileUsage, type File } from "#db/schema/files.ts"
import { NotFound } from "#server/errors.ts"
import { limitsOf } from "#server/plans/limits.ts"
import type { Scope } from "#server/scope.ts"
import { requireMember } from "#server/spaces/access.ts"
import { editableFiles, readableFiles, refuseReader } from "./access.ts"
import type { FileSummary, MoveFiles } from "./contract.ts"
import { findFreeNumber, isNameTaken } from "./free-name.ts"
import { summary, summaryOf } from "./list.ts"
import { numberedName, seriesOf } from "./names.ts"
import { createOnce, type Once } from "./once.ts"
import { findPayer, overQuota } from "./reserve-space.ts"

type Moving = Scope<"config" | "db" | "viewer">

/**
 * Moves files into a space, or without one to what is personal to the viewer, in one transaction.
 * Links that others created end. Missing files are skipped, and what is there already stays as it
 * is. Throws `NotFound` if there are none and for a space, `Forbidden` if the viewer may only read
 * one of them or in the space, and `OutOfSpace` beyond the quota of who pays there.
 */
export function moveFiles(scope: Moving, { fileIds, spaceId: to }: MoveFiles): Promise<FileSummary[]> {
  return scope.db.transaction(async (tx) => {
    const inside = { ...scope, db: tx }
    const spaceId = to?.toLowerCase() ?? null
    const payer = await findPayer(inside, spaceId)
    const here = and(eq(files.trashed, false), inArray(files._id, [...fileIds]))
    await refuseReader(inside, here)
    const found = await tx
      .select(columns)
      .from(files)
      .where(and(editableFiles(inside), here))
      .orderBy(asc(files._id))
      .for("update")
    if (found.length === 0) throw new NotFound("file")
    const moving = found.filter((file) => file.spaceId !== spaceId)
    const stays = found.filter((file) => file.spaceId === spaceId).map(withoutBlob)
    const [first] = moving
    if (!first) return stays

    const growth = await sizeOfOthers(inside, payer.userId, moving)
    const ids = moving.map(({ _id }) => _id)
    const viewerId = scope.viewer.user._id
    await tx.delete(fileShares).where(and(inArray(fileShares.fileId, ids), ne(fileShares.userId, viewerId)))
    const moved = await underFreeNames(inside, spaceId, moving, (db, names) =>
      db
        .update(files)
        .set({ spaceId, userId: viewerId, fileName: sql`${names}::jsonb ->> ${files._id}::text` })
        .where(inArray(files._id, ids))
        .returning(summary),
    )
    await refuseBeyondQuota(inside, payer, { spaceId, fileName: first.fileName, growth })
    return [...moved.map(summaryOf), ...stays]
  })
}

/**
 * Copies files that the viewer may see, otherwise like `moveFiles`. The bytes are not copied: both
 * files refer to them. With a key that came before, resolves with the copies of then. Throws also
 * `Unprocessable` and `Conflict` for a key.
 */
export function copyFiles(
  scope: Moving,
  { fileIds, spaceId }: MoveFiles,
  once?: Once,
): Promise<FileSummary[]> {
  const to = spaceId?.toLowerCase() ?? null
  return scope.db.transaction((tx) => {
    const inside = { ...scope, db: tx }
    return createOnce(inside, once, ["copy", fileIds, to], async () => {
      const copies = await copyInto(inside, to, fileIds)
      if (copies.size === 0) throw new NotFound("file")
      return [...copies.values()]
    })
  })
}

/** The copies by the ids of the files. In the caller's transaction; none if it finds none. */
export async function copyInto(
  scope: Moving,
  spaceId: string | null,
  fileIds: readonly string[],
): Promise<Map<string, FileSummary>> {
  const { db } = scope
  const userId = scope.viewer.user._id
  const payer = await findPayer(scope, spaceId)
  // Locked, so that nobody deletes one with its bytes in the meantime.
  const found = await db
    .select(columns)
    .from(files)
    .where(and(readableFiles(scope, { trashed: false }), inArray(files._id, [...fileIds])))
    .orderBy(asc(files._id))
    .for("key share")
  const [first] = found
  if (!first) return new Map()
  // A copy is committed before a removal, or not at all.
  for (const from of new Set(found.map((file) => file.spaceId)))
    if (from !== null) await requireMember(scope, from)
  const growth = found.reduce((sum, { size }) => sum + size, 0)
  await db.insert(fileUsage).values({ userId: payer.userId }).onConflictDoNothing()
  const named = await underFreeNames(scope, spaceId, found, async (inner, _names, nameOf) => {
    const values = found.map(({ storageId, mimeType, size, modifiedAt, ...file }) => {
      return { storageId, mimeType, size, modifiedAt, userId, spaceId, fileName: nameOf(file) }
    })
    const rows = await inner.insert(files).values(values).returning(summary)
    const byName = new Map(rows.map((row) => [row.fileName, summaryOf(row)]))
    return found.flatMap((file) => {
      const copy = byName.get(nameOf(file))
      return copy ? [[file._id, copy] as const] : []
    })
  })
  // What is in a space is counted by the rule `count_changed_files`.
  if (spaceId === null)
    await db
      .update(fileUsage)
      .set({ used: sql`${fileUsage.used} + ${growth}` })
      .where(eq(fileUsage.userId, userId))
  await refuseBeyondQuota(scope, payer, { spaceId, fileName: first.fileName, growth })
  return new Map(named)
}

const columns = { ...summary, storageId: files.storageId }

function withoutBlob({ storageId: _bytes, ...file }: Pick<File, keyof typeof columns>) {
  return summaryOf(file)
}

/**
 * Runs `write` with names that are free in the place: `a (1).txt` where `a.txt` is taken. All files
 * are written by one statement, so that it holds no lock that an upload needs while it waits for
 * the name of one. If another request takes a name at the same moment, this tries again.
 */
async function underFreeNames<Result>(
  scope: { db: Database } & Scope<"viewer">,
  spaceId: string | null,
  moving: readonly Pick<File, "_id" | "fileName">[],
  write: (
    db: Database,
    names: string,
    nameOf: (file: Pick<File, "_id" | "fileName">) => string,
  ) => Promise<Result>,
): Promise<Result> {
  // Those who move several files into one place wait for each other here, and not each for a name
  // that the other has taken.
  const place = spaceId ?? scope.viewer.user._id
  await scope.db.execute(sql`select pg_advisory_xact_lock(hashtext(${`files into ${place}`}))`)
  for (;;) {
    const names = await findFreeNames(scope, spaceId, moving)
    const nameOf = ({ _id, fileName }: Pick<File, "_id" | "fileName">) => names.get(_id) ?? fileName
    const json = JSON.stringify(Object.fromEntries(names))
    try {
      return await scope.db.transaction((inner) => write(inner, json, nameOf))
    } catch (error) {
      if (!isNameTaken(error)) throw error
    }
  }
}

async function findFreeNames(
  { db, viewer }: { db: Database } & Scope<"viewer">,
  spaceId: string | null,
  moving: readonly Pick<File, "_id" | "fileName">[],
): Promise<Map<string, string>> {
  const userId = viewer.user._id
  const wanted = moving.map(({ fileName }) => fileName)
  const place =
    spaceId === null ? and(eq(files.userId, userId), isNull(files.spaceId)) : eq(files.spaceId, spaceId)
  const here = await db
    .select({ fileName: files.fileName })
    .from(files)
    .where(and(place, eq(files.trashed, false), inArray(files.fileName, wanted)))
  const taken = new Set(here.map(({ fileName }) => fileName))
  const names = new Map<string, string>()
  const next = new Map<string, number>()
  for (const { _id, fileName } of moving) {
    let free = fileName
    if (taken.has(free)) {
      const series = seriesOf(fileName)
      let number = next.get(series) ?? (await findFreeNumber({ db }, { userId, spaceId, fileName }))
      do free = numberedName(fileName, number++)
      while (taken.has(free))
      next.set(series, number)
    }
    taken.add(free)
    names.set(_id, free)
  }
  return names
}

/** The size of the files that somebody other than `payer` pays for until now. */
async function sizeOfOthers(
  { db, viewer }: { db: Database } & Scope<"viewer">,
  payer: string,
  moving: readonly Pick<File, "spaceId" | "size">[],
): Promise<number> {
  const spaceIds = [...new Set(moving.map(({ spaceId }) => spaceId))].filter((id) => id !== null)
  const found = await db.execute<{ id: string; payer: string }>(
    sql`select id, payer_in_space(id) as payer from unnest(${`{${spaceIds.join()}}`}::uuid[]) as id`,
  )
  const payers = new Map(found.map(({ id, payer: userId }) => [id, userId]))
  // After the locks on the spaces, because a transfer takes them in this order.
  await db.insert(fileUsage).values({ userId: payer }).onConflictDoNothing()
  const others = moving.filter(
    ({ spaceId }) => (spaceId === null ? viewer.user._id : payers.get(spaceId)) !== payer,
  )
  return others.reduce((sum, { size }) => sum + size, 0)
}

/** After the files are written: their statement has locked the sums and added to them. */
async function refuseBeyondQuota(
  { db, config }: { db: Database } & Scope<"config">,
  payer: Awaited<ReturnType<typeof findPayer>>,
  { spaceId, fileName, growth }: { spaceId: string | null; fileName: string; growth: number },
): Promise<void> {
  if (growth === 0) return
  const limits = limitsOf(config, payer)
  const beyond = gt(sql`${fileUsage.used} + ${fileUsage.reserved}`, limits.quota)
  if ((await db.$count(fileUsage, and(eq(fileUsage.userId, payer.userId), beyond))) > 0)
    throw overQuota(fileName, limits, spaceId)
}
