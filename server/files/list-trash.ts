import { and, desc, sql } from "drizzle-orm"
import * as v from "valibot"
import { files } from "#db/schema/files.ts"
import { requirePlace, writeCursor } from "#server/cursor.ts"
import type { Scope } from "#server/scope.ts"
import { requireMember } from "#server/spaces/access.ts"
import { trashIn } from "./access.ts"
import type { ListTrash, TrashPage } from "./contract.ts"
import { summary, summaryOf } from "./list.ts"

/**
 * One page of the viewer's trash, or of a space's, the most recently trashed first. Throws
 * `BadRequest` for a cursor that it did not issue, and `NotFound` for a space.
 */
export async function listTrash(
  scope: Scope<"db" | "viewer">,
  { cursor, limit, spaceId }: ListTrash,
): Promise<TrashPage> {
  const place = sql`(${files.trashedAt}, ${files._id})`
  const after = requirePlace(Cursor, cursor)
  const found = await scope.db
    .select({ ...summary, trashedAt: files.trashedAt })
    .from(files)
    .where(and(trashIn(scope, spaceId), after && sql`${place} < (${after[0]}, ${after[1]})`))
    .orderBy(desc(files.trashedAt), desc(files._id))
    .limit(limit + 1)
  if (found.length === 0 && spaceId !== undefined) await requireMember(scope, spaceId)
  const page = found.slice(0, limit).map(summaryOf)
  const last = found.length > limit ? page.at(-1) : undefined
  return {
    files: page,
    nextCursor: last ? writeCursor([last.trashedAt, last._id] satisfies v.InferOutput<typeof Cursor>) : null,
  }
}

const Cursor = v.tuple([v.pipe(v.number(), v.safeInteger()), v.pipe(v.string(), v.uuid())])
