import { and, asc, eq, gt, inArray, ne, sql } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { files, fileShares, fileUsage } from "#db/schema/files.ts"
import { NotFound } from "#server/errors.ts"
import { limitsOf } from "#server/plans/limits.ts"
import type { Scope } from "#server/scope.ts"
import { requireMember } from "#server/spaces/access.ts"
import { editableFiles, filesIn, readableFiles, refuseReader } from "./access.ts"
import type { MoveFiles, SelectedFiles } from "./acts-contract.ts"
import type { FileSummary } from "./contract.ts"
import { underFreeNames } from "./free-name.ts"
import { summary, summaryOf } from "./list.ts"
import { isOneOf, lockFiles, selectedFiles, type FileFacts } from "./matching.ts"
import { createOnce, type Once } from "./once.ts"
import { findPayer, overQuota, overQuotaTogether } from "./reserve-space.ts"

type Moving = Scope<"config" | "db" | "viewer">
type Inside = { db: Database } & Moving

/** What became of several files: those that were named, and how many matched. */
export interface Placed {
  count: number
  /** In the place. Only if they were named by their ids. */
  files?: FileSummary[]
}

/**
 * Moves files into a space, or without one to what is personal to the viewer, in one transaction.
 * Links that others created end. Missing files are skipped, and what is there already stays as it
 * is. Throws `NotFound` if there are none and for a space, `Forbidden` if the viewer may only read
 * one of them or in the space, `BadRequest` for too many, and `OutOfSpace` beyond the quota of who pays there.
 */
export function moveFiles(scope: Moving, { spaceId: to, ...which }: MoveFiles): Promise<Placed> {
  return scope.db.transaction(async (tx) => {
    const inside = { ...scope, db: tx }
    const spaceId = to?.toLowerCase() ?? null
    const payer = await findPayer(inside, spaceId)
    const here = await selectedFiles(inside, which)
    await refuseReader(inside, here)
    const found = await lockFiles(inside, and(editableFiles(inside), here), "update")
    if (found.length === 0) throw new NotFound("file")
    await moveInto(
      inside,
      spaceId,
      payer,
      found.filter((file) => file.spaceId !== spaceId),
    )
    return placed(inside, which, found)
  })
}

async function moveInto(
  scope: Inside,
  spaceId: string | null,
  payer: Payer,
  moving: readonly FileFacts[],
): Promise<void> {
  const [first] = moving
  if (!first) return
  const { db, viewer } = scope
  const growing = {
    spaceId,
    first,
    count: moving.length,
    growth: await sizeOfOthers(scope, payer.userId, moving),
  }
  await refuseBeyondQuota(scope, payer, growing, growing.growth)
  const ids = moving.map(({ _id }) => _id)
  await db
    .delete(fileShares)
    .where(
      and(
        sql`${fileShares.fileId} = any(${`{${ids.join()}}`}::uuid[])`,
        ne(fileShares.userId, viewer.user._id),
      ),
    )
  await underFreeNames(scope, spaceId, moving, (inner, fileName) =>
    inner
      .update(files)
      .set({ spaceId, userId: viewer.user._id, ...(fileName && { fileName }) })
      .where(isOneOf(ids)),
  )
  await refuseBeyondQuota(scope, payer, growing)
}

async function placed(scope: Inside, which: SelectedFiles, found: readonly FileFacts[]): Promise<Placed> {
  const count = found.length
  if (!("fileIds" in which)) return { count }
  const rows = await scope.db
    .select(summary)
    .from(files)
    .where(isOneOf(found.map(({ _id }) => _id)))
    .orderBy(asc(files._id))
  return { count, files: rows.map(summaryOf) }
}

/**
 * Copies files that the viewer may see, otherwise like `moveFiles`. The bytes are not copied: both
 * files refer to them. With a key that came before, resolves with the copies of then. Throws also
 * `Unprocessable` and `Conflict` for a key.
 */
export function copyFiles(scope: Moving, { spaceId, ...which }: MoveFiles, once?: Once): Promise<Placed> {
  const to = spaceId?.toLowerCase() ?? null
  return scope.db.transaction(async (tx) => {
    const inside = { ...scope, db: tx }
    const asked = "fileIds" in which ? which.fileIds : which.all
    const copies = await createOnce<FileSummary[] | Placed>(inside, once, ["copy", asked, to], async () => {
      const named = await copyUnderNames(inside, to, which)
      if (named.size === 0) throw new NotFound("file")
      if (!("fileIds" in which)) return { count: named.size }
      return [...(await findCopies(inside, to, named)).values()]
    })
    return Array.isArray(copies) ? { count: copies.length, files: copies } : copies
  })
}

/** The copies by the ids of the files. In the caller's transaction; none if it finds none. */
export async function copyInto(
  scope: Inside,
  spaceId: string | null,
  fileIds: string[],
): Promise<Map<string, FileSummary>> {
  return findCopies(scope, spaceId, await copyUnderNames(scope, spaceId, { fileIds }))
}

/** The names of the copies by the ids of the files. */
async function copyUnderNames(
  scope: Inside,
  spaceId: string | null,
  which: SelectedFiles,
): Promise<Map<string, string>> {
  const { db } = scope
  const userId = scope.viewer.user._id
  const payer = await findPayer(scope, spaceId)
  const here = await selectedFiles(scope, which, requireMember)
  // Locked, so that nobody deletes one with its bytes in the meantime.
  const found = await lockFiles(scope, and(readableFiles(scope), here), "key share")
  const [first] = found
  if (!first) return new Map()
  // A copy is committed before a removal, or not at all.
  for (const from of new Set(found.map((file) => file.spaceId)))
    if (from !== null) await requireMember(scope, from)
  const growing = {
    spaceId,
    first,
    count: found.length,
    growth: found.reduce((sum, { size }) => sum + size, 0),
  }
  await db.insert(fileUsage).values({ userId: payer.userId }).onConflictDoNothing()
  await refuseBeyondQuota(scope, payer, growing, growing.growth)
  const named = await underFreeNames(scope, spaceId, found, async (inner, fileName, names) => {
    await inner.execute(sql`
      insert into ${files} (storage_id, user_id, space_id, file_name, mime_type, size, modified_at)
      select storage_id, ${userId}, ${spaceId}::uuid, ${fileName ?? files.fileName}, mime_type, size, modified_at
      from ${files} where ${isOneOf(found.map(({ _id }) => _id))} order by _id`)
    return new Map(found.map((file) => [file._id, names.get(file._id) ?? file.fileName]))
  })
  // What is in a space is counted by the rule `count_changed_files`.
  if (spaceId === null)
    await db
      .update(fileUsage)
      .set({ used: sql`${fileUsage.used} + ${growing.growth}` })
      .where(eq(fileUsage.userId, userId))
  await refuseBeyondQuota(scope, payer, growing)
  return named
}

/** A place has one file of a name. */
async function findCopies(
  scope: Inside,
  spaceId: string | null,
  named: ReadonlyMap<string, string>,
): Promise<Map<string, FileSummary>> {
  const rows = await scope.db
    .select(summary)
    .from(files)
    .where(and(filesIn(scope, spaceId ?? undefined), inArray(files.fileName, [...named.values()])))
  const byName = new Map(rows.map((row) => [row.fileName, summaryOf(row)]))
  return new Map(
    [...named].flatMap(([id, fileName]) => {
      const copy = byName.get(fileName)
      return copy ? [[id, copy] as const] : []
    }),
  )
}

/** The size of the files that somebody other than `payer` pays for until now. */
async function sizeOfOthers(
  { db, viewer }: Inside,
  payer: string,
  moving: readonly FileFacts[],
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

type Payer = Awaited<ReturnType<typeof findPayer>>

/**
 * With what is to be added, before the files are written. Again afterwards: their statement has
 * locked the sums and added to them.
 */
async function refuseBeyondQuota(
  { db, config }: { db: Database } & Scope<"config">,
  payer: Payer,
  {
    spaceId,
    first,
    count,
    growth,
  }: { spaceId: string | null; first: FileFacts; count: number; growth: number },
  added = 0,
): Promise<void> {
  if (growth === 0) return
  const limits = limitsOf(config, payer)
  const beyond = gt(sql`${fileUsage.used} + ${fileUsage.reserved} + ${added}`, limits.quota)
  if ((await db.$count(fileUsage, and(eq(fileUsage.userId, payer.userId), beyond))) === 0) return
  throw count === 1
    ? overQuota(first.fileName, limits, spaceId)
    : overQuotaTogether(count, growth, limits, spaceId)
}
