import { existsSync } from "node:fs"
import { statfs } from "node:fs/promises"
import { dirname } from "node:path"
import type { Config } from "#server/config.ts"

/** Free bytes below which an operator is warned, and below which writes will soon fail. */
export const LITTLE_SPACE = 2e9
export const NO_SPACE = 200e6

/** The free bytes where this process stores data; null if it stores none on a disk of its own. */
export async function findFreeSpace(
  config: Pick<Config, "blobs" | "database" | "dataDir">,
): Promise<{ folder: string; free: number } | null> {
  if (config.database.kind === "external" && config.blobs.kind === "s3") return null
  const folder = config.blobs.kind === "disk" ? config.blobs.directory : config.dataDir
  const { bavail, bsize } = await statfs(nearestFolder(folder))
  return { folder, free: bavail * bsize }
}

/** A folder that the first start creates does not exist yet. */
function nearestFolder(folder: string): string {
  return existsSync(folder) ? folder : nearestFolder(dirname(folder))
}
