import { and, eq, type SQL } from "drizzle-orm"
import { files } from "#db/schema/files.ts"
import type { Scope } from "../scope.ts"

/** The viewer's own files. */
export function ownFiles({ viewer }: Scope<"viewer">): SQL {
  return eq(files.userId, viewer.user._id)
}

/** One of the viewer's own files: what belongs to somebody else is not there. */
export function ownFile(scope: Scope<"viewer">, id: string): SQL | undefined {
  return and(ownFiles(scope), eq(files._id, id))
}

/** Bytes that the viewer's files may take together. */
export function quotaOf({ config, viewer }: Scope<"config" | "viewer">): number {
  return config.files.quota[viewer.session.plan]
}
