import { and, desc, sql } from "drizzle-orm"
import * as v from "valibot"
import { files } from "#db/schema/files.ts"
import { writeCursor } from "#server/cursor.ts"
import type { Scope } from "#server/scope.ts"
import { ownTrash } from "./access.ts"
import type { ListTrash, TrashPage } from "./contract.ts"
import { requirePlace, summary } from "./list.ts"

/**
 * One page of the viewer's trash, the most recently trashed first. Throws `BadRequest` for a cursor
 * that it did not issue.
 */
export async function listTrash(
  { db, viewer }: Scope<"db" | "viewer">,
  { cursor, limit }: ListTrash,
): Promise<TrashPage> {
  const place = sql`(${files.trashedAt}, ${files._id})`
  const after = requirePlace(Cursor, cursor)
  const found = await db
    .select({ ...summary, trashedAt: files.trashedAt })
    .from(files)
    .where(and(ownTrash({ viewer }), after && sql`${place} < (${after[0]}, ${after[1]})`))
    .orderBy(desc(files.trashedAt), desc(files._id))
    .limit(limit + 1)
  const page = found.slice(0, limit)
  const last = found.length > limit ? page.at(-1) : undefined
  return {
    files: page,
    nextCursor: last ? writeCursor([last.trashedAt, last._id] satisfies v.InferOutput<typeof Cursor>) : null,
  }
}

const Cursor = v.tuple([v.pipe(v.number(), v.safeInteger()), v.pipe(v.string(), v.uuid())])
