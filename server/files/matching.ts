import { and, asc, eq, gt, lte, notInArray, sql, type SQL } from "drizzle-orm"
import * as v from "valibot"
import { files, type File } from "#db/schema/files.ts"
import { BadRequest } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { requireEditor, requireMember } from "#server/spaces/access.ts"
import { filesIn, trashIn } from "./access.ts"
import {
  MATCHING_LIMIT,
  type MatchCount,
  type MatchingFiles,
  type MatchingTrash,
  type SelectedFiles,
  type SelectedTrash,
} from "./acts-contract.ts"
import { FileId } from "./contract.ts"
import { isNamedLike, isOfKind } from "./list.ts"

type Asking = Scope<"db" | "viewer">

/** Rows that are read at a time. */
const PAGE = 1000

/**
 * How many files match, for a page that offers to select them all. Throws `NotFound` for a space.
 */
export async function countMatching(scope: Asking, which: MatchingFiles): Promise<MatchCount> {
  if (which.spaceId !== undefined) await requireMember(scope, which.spaceId)
  const [sum] = await scope.db
    .select({
      count: sql<number>`count(*)::float8`,
      size: sql<number>`coalesce(sum(${files.size}), 0)::float8`,
      until: sql<number>`coalesce(max(${files._creationTime}), 0)::float8`,
    })
    .from(files)
    .where(filesMatching(scope, which))
  if (!sum) throw new Error("The database returned no count of files.")
  return sum
}

/**
 * The condition for files outside the trash that a request selects, to change them or only to read
 * them. Throws `BadRequest` for too many, and `NotFound` or `Forbidden` for a space.
 */
export async function selectedFiles(
  scope: Asking,
  which: SelectedFiles,
  requireAccess: typeof requireEditor | typeof requireMember = requireEditor,
): Promise<SQL | undefined> {
  if ("fileIds" in which) return and(eq(files.trashed, false), isOneOf(which.fileIds))
  if (which.all.spaceId !== undefined) await requireAccess(scope, which.all.spaceId)
  return notTooMany(scope, filesMatching(scope, which.all))
}

/**
 * The same for what is in the trash of one place. By their ids, whether they are in the trash or not.
 */
export async function selectedTrash(scope: Asking, which: SelectedTrash): Promise<SQL | undefined> {
  if ("fileIds" in which) return isOneOf(which.fileIds)
  if (which.all.spaceId !== undefined) await requireEditor(scope, which.all.spaceId)
  return notTooMany(scope, trashMatching(scope, which.all))
}

/** Text that is no id is that of no file. */
export function isFile(id: string): SQL {
  return v.is(FileId, id) ? eq(files._id, id) : sql`false`
}

/** A condition for rows of `files` by their ids: one parameter, however many they are. */
export function isOneOf(ids: readonly string[]): SQL {
  return sql`${files._id} = any(${`{${ids.join()}}`}::uuid[])`
}

/** What acts on many files needs of each. */
const facts = { _id: files._id, spaceId: files.spaceId, fileName: files.fileName, size: files.size }
export type FileFacts = Pick<File, keyof typeof facts>

/** Locks rows until the transaction ends, in one order for everybody. */
export async function lockFiles(
  { db }: Scope<"db">,
  which: SQL | undefined,
  strength: "update" | "key share",
): Promise<FileFacts[]> {
  const found: FileFacts[] = []
  for (let last: string | undefined; ;) {
    const page = await db
      .select(facts)
      .from(files)
      .where(and(which, last === undefined ? undefined : gt(files._id, last)))
      .orderBy(asc(files._id))
      .limit(PAGE)
      .for(strength)
    found.push(...page)
    last = page.at(-1)?._id
    if (page.length < PAGE) return found
  }
}

/** The files that a list of the place shows for the search. */
export function filesMatching(
  scope: Asking,
  { spaceId, q, type, until, except }: MatchingFiles,
): SQL | undefined {
  return and(
    filesIn(scope, spaceId),
    isNamedLike(q ?? ""),
    type && isOfKind(type),
    until === undefined ? undefined : lte(files._creationTime, until),
    isNoneOf(except),
  )
}

function trashMatching(scope: Asking, { spaceId, trashedAt, until, except }: MatchingTrash): SQL | undefined {
  return and(
    trashIn(scope, spaceId),
    trashedAt === undefined ? undefined : eq(files.trashedAt, trashedAt),
    until === undefined ? undefined : lte(files.trashedAt, until),
    isNoneOf(except),
  )
}

function isNoneOf(ids: readonly string[] = []): SQL | undefined {
  return ids.length === 0 ? undefined : notInArray(files._id, [...ids])
}

async function notTooMany({ db }: Scope<"db">, which: SQL | undefined): Promise<SQL | undefined> {
  const [beyond] = await db
    .select({ _id: files._id })
    .from(files)
    .where(which)
    .offset(MATCHING_LIMIT)
    .limit(1)
  if (beyond) throw new BadRequest("files-too-many", { most: MATCHING_LIMIT })
  return which
}
