import { rm } from "node:fs/promises"
import { join } from "node:path"
import type { Blobs } from "../ports/blobs.ts"
import { readBlobList } from "./blob-list.ts"
import { listBackups } from "./folder.ts"

/** Removes all but the newest backups, and the bytes that none of the others has. Answers how many backups went. */
export async function pruneBackups(
  directory: string,
  kept: Blobs,
  { keep }: { keep: number },
): Promise<number> {
  const names = await listBackups(directory)
  const old = names.slice(0, -keep)
  for (const name of old) await rm(join(directory, name), { recursive: true })
  const needed = new Set<string>()
  for (const name of names.slice(-keep)) {
    for await (const { key } of readBlobList(join(directory, name))) needed.add(key)
  }
  for (const state of ["stored", "unfinished"] as const) {
    for await (const { key } of kept.list(state)) if (!needed.has(key)) await kept.remove(key)
  }
  return old.length
}
