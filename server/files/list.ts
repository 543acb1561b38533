import { and, asc, desc, sql, type SQL } from "drizzle-orm"
import * as v from "valibot"
import { files, type File } from "#db/schema/files.ts"
import { requirePlace, writeCursor } from "#server/cursor.ts"
import type { Scope } from "#server/scope.ts"
import { listSpaceIds, requireMember } from "#server/spaces/access.ts"
import { filesAmong, filesIn } from "./access.ts"
import {
  KIND_PATTERNS,
  type FilePage,
  type FileSummary,
  type Kind,
  type ListFiles,
  type Sort,
} from "./contract.ts"

/** The columns that `summaryOf` takes. */
export const summary = {
  _id: files._id,
  _creationTime: files._creationTime,
  fileName: files.fileName,
  mimeType: files.mimeType,
  size: files.size,
  userId: files.userId,
  spaceId: files.spaceId,
  modifiedAt: files.modifiedAt,
}

/** A file in a space says so, and who added it. A time that nobody has said is left out. */
export function summaryOf<Row extends Pick<File, "userId" | "spaceId" | "modifiedAt">>({
  userId,
  spaceId,
  modifiedAt,
  ...file
}: Row): Omit<Row, "userId" | "spaceId" | "modifiedAt"> &
  Pick<FileSummary, "userId" | "spaceId" | "modifiedAt"> {
  return {
    ...file,
    ...(spaceId !== null && { userId, spaceId }),
    ...(modifiedAt !== null && { modifiedAt }),
  }
}

/**
 * One page of the viewer's own files, of a space's, or of all that they may see. A page begins after
 * the last row of the previous one, not at a row number, so rows added or removed in between shift
 * nothing. Throws `BadRequest` for a cursor that it did not issue, and `NotFound` for a space.
 */
export async function listFiles(
  scope: Scope<"db" | "viewer">,
  { q, sort, type, cursor, limit, spaceId, everywhere }: ListFiles,
): Promise<FilePage> {
  const { order, after } = SORTING[sort]
  const place = requirePlace(Cursor, cursor)
  const found = await scope.db
    .select(summary)
    .from(files)
    .where(
      and(
        everywhere ? filesAmong(scope, await listSpaceIds(scope)) : filesIn(scope, spaceId),
        isNamedLike(q),
        type ? isOfKind(type) : undefined,
        place && after(place),
      ),
    )
    .orderBy(...order)
    .limit(limit + 1)
  if (found.length === 0 && spaceId !== undefined && !everywhere) await requireMember(scope, spaceId)
  const page = found.slice(0, limit).map(summaryOf)
  const last = found.length > limit ? page.at(-1) : undefined
  return { files: page, nextCursor: last ? cursorAfter(last) : null }
}

export function isOfKind(kind: Kind): SQL | undefined {
  if (kind !== "other") return sql`${files.mimeType} ~ ${KIND_PATTERNS[kind]}`
  return sql`${files.mimeType} !~ ${Object.values(KIND_PATTERNS).join("|")}`
}

/** Each word has to be in the name, in any order. */
export function isNamedLike(q: string): SQL | undefined {
  const words = q.split(/\s+/).filter((word) => word !== "")
  return and(...words.map(contains))
}

/** Ignores capitals and accents, and what `file_name_key` adds to numbers. */
function contains(word: string): SQL {
  return sql`strpos(regexp_replace(${nameKey}, '0[\u0001-\u001f]', '', 'g'), file_name_fold(${word})) > 0`
}

/** In byte order, which is the same in every database. */
const nameKey = sql`(coalesce(${files.nameKey}, file_name_key(${files.fileName})) collate "C")`
const modified = sql`coalesce(${files.modifiedAt}, ${files._creationTime})`

/**
 * Ids are created in chronological order, so they serve as the time, and they break ties between
 * equal names and sizes.
 */
const SORTING: Record<Sort, { order: SQL[]; after: (last: Cursor) => SQL }> = {
  newest: { order: [desc(files._id)], after: ([id]) => sql`${files._id} < ${id}` },
  oldest: { order: [asc(files._id)], after: ([id]) => sql`${files._id} > ${id}` },
  modified: downBy(modified, ([, , , modifiedAt]) => sql`${modifiedAt}::bigint`),
  "modified-oldest": upBy(modified, ([, , , modifiedAt]) => sql`${modifiedAt}::bigint`),
  name: upBy(nameKey, ([, fileName]) => sql`file_name_key(${fileName})`),
  "name-desc": downBy(nameKey, ([, fileName]) => sql`file_name_key(${fileName})`),
  largest: downBy(sql`${files.size}`, ([, , size]) => sql`${size}::bigint`),
  smallest: upBy(sql`${files.size}`, ([, , size]) => sql`${size}::bigint`),
}

function upBy(value: SQL, of: (last: Cursor) => SQL) {
  return {
    order: [asc(value), asc(files._id)],
    after: (last: Cursor) => sql`(${value}, ${files._id}) > (${of(last)}, ${last[0]})`,
  }
}

function downBy(value: SQL, of: (last: Cursor) => SQL) {
  return {
    order: [desc(value), desc(files._id)],
    after: (last: Cursor) => sql`(${value}, ${files._id}) < (${of(last)}, ${last[0]})`,
  }
}

const Cursor = v.tuple([
  v.pipe(v.string(), v.uuid()),
  v.pipe(v.string(), v.regex(/^\P{Cc}*$/u)),
  v.pipe(v.number(), v.safeInteger()),
  // Absent in those of the previous version, which has no order by it.
  v.optional(v.pipe(v.number(), v.safeInteger()), 0),
])
type Cursor = v.InferOutput<typeof Cursor>

/** The condition for the files after this one, in any order. */
export function cursorAfter({ _id, fileName, size, modifiedAt, _creationTime }: FileSummary): string {
  return writeCursor([_id, fileName, size, modifiedAt ?? _creationTime] satisfies Cursor)
}
