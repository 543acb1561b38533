import { join } from "node:path"
import type { Blobs } from "#server/ports/blobs.ts"
import { readBlobList } from "./blob-list.ts"
import { listBackups, removeBackup } from "./folder.ts"
import { chooseKept, type Keep } from "./keep.ts"
import { readManifest } from "./manifest.ts"

/**
 * Removes the backups that `keep` does not ask for, and bytes that no remaining backup uses. `written` counts as
 * the newest, whatever the clocks say. Returns how many backups were removed. Nobody else may be
 * writing to the folder. Throws before removing anything if a backup does not say when it was taken
 * or which bytes it has.
 */
export async function pruneBackups(
  directory: string,
  kept: Blobs,
  { keep, written }: { keep: Keep; written: string },
): Promise<number> {
  const backups = await listByMoment(directory, written)
  const remaining = chooseKept(backups, keep)
  const needed = new Set<string>()
  for (const { name } of remaining) {
    for await (const { key } of readBlobList(join(directory, name))) needed.add(key)
  }
  const old = backups.filter((backup) => !remaining.includes(backup))
  for (const { name } of old) await removeBackup(directory, name)
  for (const state of ["stored", "unfinished"] as const) {
    for await (const { key } of kept.list(state)) if (!needed.has(key)) await kept.remove(key)
  }
  return old.length
}

/** Oldest first. */
async function listByMoment(directory: string, written: string) {
  const others: { name: string; takenAt: number }[] = []
  for (const name of await listBackups(directory)) {
    if (name === written) continue
    const { takenAt } = await readManifest(join(directory, name))
    others.push({ name, takenAt: Date.parse(takenAt) })
  }
  others.sort((one, other) => one.takenAt - other.takenAt)
  const { takenAt } = await readManifest(join(directory, written))
  const newest = Math.max(Date.parse(takenAt), others.at(-1)?.takenAt ?? 0)
  return [...others, { name: written, takenAt: newest }]
}
