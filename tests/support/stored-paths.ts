import { readdir } from "node:fs/promises"
import { join } from "node:path"
import type { TidelineApp } from "./app.ts"

/**
 * The paths of all blobs, including unfinished ones, of an application that stores them on disk.
 */
export function storedPaths({ dataDir }: Pick<TidelineApp, "dataDir">): Promise<string[]> {
  return pathsIn(join(dataDir, "blobs"))
}

/** The paths of all files in a folder and its subfolders. */
export async function pathsIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}
