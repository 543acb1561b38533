import { and, eq, type SQL } from "drizzle-orm"
import { files, fileShares } from "#db/schema/files.ts"
import type { Scope } from "#server/scope.ts"

/** The viewer's own files. What is in the trash is not among them. */
export function ownFiles({ viewer }: Scope<"viewer">): SQL | undefined {
  return and(eq(files.userId, viewer.user._id), eq(files.trashed, false))
}

/** The viewer's files in the trash. */
export function ownTrash({ viewer }: Scope<"viewer">): SQL | undefined {
  return and(eq(files.userId, viewer.user._id), eq(files.trashed, true))
}

/** One of the viewer's own files: what belongs to somebody else is not there. */
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

/** The links that the viewer made. */
export function ownShares({ viewer }: Scope<"viewer">): SQL {
  return eq(fileShares.userId, viewer.user._id)
}
