import { and, asc, eq, inArray, ne, sql } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { files, fileShares, fileUsage } from "#db/schema/files.ts"
import { NotFound } from "#server/errors.ts"
import { limitsOf } from "#server/plans/limits.ts"
import type { Scope } from "#server/scope.ts"
import { requireMember } from "#server/spaces/access.ts"
import { editableFiles, filesIn, readableFiles, refuseReader } from "./access.ts"
import type { MoveFiles, Placed, SelectedFiles } from "./acts-contract.ts"
import type { FileSummary } from "./contract.ts"
import { underFreeNames } from "./free-name.ts"
import { summary, summaryOf } from "./list.ts"
import { isOneOf, lockFiles, selectedFiles, type FileFacts } from "./matching.ts"
import { createOnce, type Once } from "#server/operations/once.ts"
import {
  countUnfinished,
  findPayer,
  overQuota,
  overQuotaTogether,
  tooLarge,
  tooManyFiles,
} from "./reserve-space.ts"

type Moving = Scope<"config" | "db" | "viewer">
type Inside = { db: Database } & Moving

/**
 * Moves files into a space, or without one to what is personal to the viewer, in one transaction.
 * Links that others created end. Missing files are skipped, and what is there already stays as it
 * is. Throws `NotFound` if there are none and for a space, `Forbidden` if the viewer may only read
 * one of them or in the space, `BadRequest` for too many, and `OutOfSpace` or `TooLarge` beyond the
 * plan of who pays there.
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
  if (moving.length === 0) return
  const { db, viewer } = scope
  const coming = await findOthers(scope, payer.userId, moving)
  await refuseBeyondPlan(scope, payer, spaceId, coming, "announced")
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
  await refuseBeyondPlan(scope, payer, spaceId, coming, "counted")
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
  if (found.length === 0) return new Map()
  // A copy is committed before a removal, or not at all.
  for (const from of new Set(found.map((file) => file.spaceId)))
    if (from !== null) await requireMember(scope, from)
  await db.insert(fileUsage).values({ userId: payer.userId }).onConflictDoNothing()
  await refuseBeyondPlan(scope, payer, spaceId, found, "announced")
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
      .set({ used: sql`${fileUsage.used} + ${sizeOf(found)}` })
      .where(eq(fileUsage.userId, userId))
  await refuseBeyondPlan(scope, payer, spaceId, found, "counted")
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

/** The files that somebody other than `payer` pays for until now. */
async function findOthers(
  { db, viewer }: Inside,
  payer: string,
  moving: readonly FileFacts[],
): Promise<FileFacts[]> {
  const spaceIds = [...new Set(moving.map(({ spaceId }) => spaceId))].filter((id) => id !== null)
  const found = await db.execute<{ id: string; payer: string }>(
    sql`select id, payer_in_space(id) as payer from unnest(${`{${spaceIds.join()}}`}::uuid[]) as id`,
  )
  const payers = new Map(found.map(({ id, payer: userId }) => [id, userId]))
  // After the locks on the spaces, because a transfer takes them in this order.
  await db.insert(fileUsage).values({ userId: payer }).onConflictDoNothing()
  return moving.filter(({ spaceId }) => (spaceId === null ? viewer.user._id : payers.get(spaceId)) !== payer)
}

type Payer = Awaited<ReturnType<typeof findPayer>>

/**
 * The plan of who pays for a place is the one that counts there, also for what comes from elsewhere.
 * With what is `announced`, before the files are written. Again when it is `counted`: their statement
 * has locked the sums and added to them.
 */
async function refuseBeyondPlan(
  { db, config }: { db: Database } & Scope<"config">,
  payer: Payer,
  spaceId: string | null,
  coming: readonly FileFacts[],
  state: "announced" | "counted",
): Promise<void> {
  const [first] = coming
  if (!first) return
  const limits = limitsOf(config, payer)
  const large = coming.find(({ size }) => size > limits.largestFile)
  if (large) throw tooLarge(large.fileName, limits)
  const growth = sizeOf(coming)
  const added = state === "announced" ? { files: coming.length, bytes: growth } : { files: 0, bytes: 0 }
  const [usage] = await db.select().from(fileUsage).where(eq(fileUsage.userId, payer.userId))
  const { files: count = 0, used = 0, reserved = 0 } = usage ?? {}
  if (count + (await countUnfinished(db, payer.userId)) + added.files > limits.files)
    throw tooManyFiles(first.fileName, limits, spaceId)
  if (growth === 0 || used + reserved + added.bytes <= limits.quota) return
  throw coming.length === 1
    ? overQuota(first.fileName, limits, spaceId)
    : overQuotaTogether(coming.length, growth, limits, spaceId)
}

function sizeOf(some: readonly FileFacts[]): number {
  return some.reduce((sum, { size }) => sum + size, 0)
}
