import { and, asc, desc, ilike, sql, type SQL } from "drizzle-orm"
import * as v from "valibot"
import { files, type File } from "#db/schema/files.ts"
import { readCursor, writeCursor } from "#server/cursor.ts"
import { BadRequest } from "#server/errors.ts"
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
}

/** A file in a space says so, and who added it. */
export function summaryOf<Row extends Pick<File, "userId" | "spaceId">>({ userId, spaceId, ...file }: Row) {
  return spaceId === null ? file : { ...file, userId, spaceId }
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
        q ? ilike(files.fileName, `%${q.replace(/[\\%_]/g, "\\$&")}%`) : undefined,
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

function isOfKind(kind: Kind): SQL | undefined {
  if (kind !== "other") return sql`${files.mimeType} ~ ${KIND_PATTERNS[kind]}`
  return sql`${files.mimeType} !~ ${Object.values(KIND_PATTERNS).join("|")}`
}

const name = sql`lower(${files.fileName})`

/**
 * Ids are created in chronological order, so they serve as the time, and they break ties between
 * equal names and sizes.
 */
const SORTING: Record<Sort, { order: SQL[]; after: (last: Cursor) => SQL }> = {
  newest: { order: [desc(files._id)], after: ([id]) => sql`${files._id} < ${id}` },
  oldest: { order: [asc(files._id)], after: ([id]) => sql`${files._id} > ${id}` },
  name: {
    order: [asc(name), asc(files._id)],
    after: ([id, fileName]) => sql`(${name}, ${files._id}) > (lower(${fileName}), ${id})`,
  },
  largest: {
    order: [desc(files.size), desc(files._id)],
    after: ([id, , size]) => sql`(${files.size}, ${files._id}) < (${size}, ${id})`,
  },
}

const Cursor = v.tuple([
  v.pipe(v.string(), v.uuid()),
  v.pipe(v.string(), v.regex(/^\P{Cc}*$/u)),
  v.pipe(v.number(), v.safeInteger()),
])
type Cursor = v.InferOutput<typeof Cursor>

/** The condition for the files after this one, in any order. */
export function cursorAfter({ _id, fileName, size }: FileSummary): string {
  return writeCursor([_id, fileName, size] satisfies Cursor)
}

/** Throws `BadRequest` for a cursor that the list did not issue. */
export function requirePlace<Schema extends v.GenericSchema>(
  schema: Schema,
  cursor: string | undefined,
): v.InferOutput<Schema> | undefined {
  if (cursor === undefined) return undefined
  const place = readCursor(schema, cursor)
  if (place === undefined) throw new BadRequest("cursor-foreign")
  return place
}
