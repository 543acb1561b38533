import { and, eq, type SQL } from "drizzle-orm"
import { files, fileShares } from "#db/schema/files.ts"
import type { Scope } from "#server/scope.ts"
import { isPersonal } from "#server/spaces/access.ts"

/** The viewer's own files, except those in the trash. */
export function ownFiles(scope: Scope<"viewer">): SQL | undefined {
  return and(isPersonal(scope, files), eq(files.trashed, false))
}

/** The viewer's files in the trash. */
export function ownTrash(scope: Scope<"viewer">): SQL | undefined {
  return and(isPersonal(scope, files), eq(files.trashed, true))
}

/** One of the viewer's own files. Nobody else's is ever found. */
export function ownFile(scope: Scope<"viewer">, id: string): SQL | undefined {
  return and(ownFiles(scope), eq(files._id, id))
}

/** One of the viewer's own files, in the trash or not. */
export function ownFileAnywhere({ viewer }: Scope<"viewer">, id: string): SQL | undefined {
  return and(ownFilesAnywhere({ viewer }), eq(files._id, id))
}

/** The viewer's own files, in the trash or not. */
export function ownFilesAnywhere(scope: Scope<"viewer">): SQL | undefined {
  return isPersonal(scope, files)
}

/** The share links that the viewer created. */
export function ownShares(scope: Scope<"viewer">): SQL | undefined {
  return isPersonal(scope, fileShares)
}
