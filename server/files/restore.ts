import { and, eq, type SQL } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { files } from "#db/schema/files.ts"
import { NotFound } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { editableFiles, refuseReader } from "./access.ts"
import type { SelectedTrash } from "./acts-contract.ts"
import type { FileSummary } from "./contract.ts"
import { underFreeNames } from "./free-name.ts"
import { summary, summaryOf } from "./list.ts"
import { isFile, isOneOf, lockFiles, selectedTrash } from "./matching.ts"

/**
 * Restores it from the trash: as `a (1).txt` if another file is called `a.txt` by now. Throws
 * `NotFound`, `Forbidden`.
 */
export async function restoreFile(scope: Scope<"db" | "viewer">, id: string): Promise<FileSummary> {
  return scope.db.transaction(async (tx) => {
    if ((await restore({ ...scope, db: tx }, isFile(id))) === 0) throw new NotFound("file")
    const [restored] = await tx.select(summary).from(files).where(eq(files._id, id))
    if (!restored) throw new Error("The database returned no row for the restored file.")
    return summaryOf(restored)
  })
}

/**
 * Restores several files, or all that match, each like `restoreFile`. Missing files are skipped;
 * returns how many were restored. Throws `Forbidden`, and restores none, if the viewer may only read
 * one of them, and for all that match `BadRequest` for too many, and `NotFound` for a space.
 */
export function restoreFiles(scope: Scope<"db" | "viewer">, which: SelectedTrash): Promise<number> {
  return scope.db.transaction(async (tx) => {
    const inside = { ...scope, db: tx }
    return restore(inside, await selectedTrash(inside, which))
  })
}

/** In the caller's transaction. */
async function restore(scope: { db: Database } & Scope<"viewer">, which: SQL | undefined): Promise<number> {
  const here = and(which, eq(files.trashed, true))
  await refuseReader(scope, here)
  const found = await lockFiles(scope, and(editableFiles(scope), here), "update")
  const places = Map.groupBy(found, ({ spaceId }) => spaceId)
  // In one order, so that two people who restore files of the same places do not deadlock.
  for (const [spaceId, inPlace] of [...places].toSorted(([a], [b]) => ((a ?? "") < (b ?? "") ? -1 : 1)))
    await underFreeNames(scope, spaceId, inPlace, (db, fileName) =>
      db
        .update(files)
        .set({ trashed: false, trashedAt: 0, ...(fileName && { fileName }) })
        .where(isOneOf(inPlace.map(({ _id }) => _id))),
    )
  return found.length
}
