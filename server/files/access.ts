import { and, eq, or, type SQL } from "drizzle-orm"
import * as v from "valibot"
import { files } from "#db/schema/files.ts"
import { NotFound } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { isInPlace, isInSpaces, isPersonal, mayEdit, mayRead, requireEditor } from "#server/spaces/access.ts"
import { SpaceId } from "#server/spaces/place-contract.ts"

/**
 * The files of one place, except those in its trash: the viewer's own, or those of a space if they
 * are a member of it. Throws `NotFound` for text that is no id.
 */
export function filesIn(scope: Scope<"db" | "viewer">, spaceId: string | undefined): SQL | undefined {
  return and(isInPlace(scope, files, parseId(spaceId)), eq(files.trashed, false))
}

/** The viewer's own files, and those of these spaces if they are a member, except those in a trash. */
export function filesAmong(scope: Scope<"db" | "viewer">, spaceIds: readonly string[]): SQL | undefined {
  const shared = spaceIds.length > 0 ? isInSpaces(scope, files, spaceIds) : undefined
  return and(or(isPersonal(scope, files), shared), eq(files.trashed, false))
}

/** The trash of one place. Throws as `filesIn` does. */
export function trashIn(scope: Scope<"db" | "viewer">, spaceId: string | undefined): SQL | undefined {
  return and(isInPlace(scope, files, parseId(spaceId)), eq(files.trashed, true))
}

/** The files that the viewer may see, in any place. In the trash or not, unless `trashed` says it. */
export function readableFiles(
  scope: Scope<"db" | "viewer">,
  { trashed }: { trashed?: boolean } = {},
): SQL | undefined {
  return and(mayRead(scope, files), trashed === undefined ? undefined : eq(files.trashed, trashed))
}

/** The files that the viewer may change. For statements that write: it locks their membership. */
export function editableFiles(scope: Scope<"db" | "viewer">): SQL | undefined {
  return mayEdit(scope, files)
}

/**
 * After a change that found nothing: throws `Forbidden` if the viewer may see such files, and not
 * change them.
 */
export async function refuseReader(scope: Scope<"db" | "viewer">, which: SQL | undefined): Promise<void> {
  const seen = await scope.db
    .selectDistinct({ spaceId: files.spaceId })
    .from(files)
    .where(and(readableFiles(scope), which))
  for (const { spaceId } of seen) if (spaceId !== null) await requireEditor(scope, spaceId)
}

function parseId(spaceId: string | undefined): string | undefined {
  if (spaceId !== undefined && !v.is(SpaceId, spaceId)) throw new NotFound("space")
  return spaceId
}
