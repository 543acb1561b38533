import { and, eq, type SQL } from "drizzle-orm"
import { files, fileShares } from "#db/schema/files.ts"
import type { Scope } from "#server/scope.ts"

/** The viewer's own files, except those in the trash. */
export function ownFiles({ viewer }: Scope<"viewer">): SQL | undefined {
  return and(eq(files.userId, viewer.user._id), eq(files.trashed, false))
}

/** The viewer's files in the trash. */
export function ownTrash({ viewer }: Scope<"viewer">): SQL | undefined {
  return and(eq(files.userId, viewer.user._id), eq(files.trashed, true))
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
export function ownFilesAnywhere({ viewer }: Scope<"viewer">): SQL {
  return eq(files.userId, viewer.user._id)
}

/** The share links that the viewer created. */
export function ownShares({ viewer }: Scope<"viewer">): SQL {
  return eq(fileShares.userId, viewer.user._id)
}
