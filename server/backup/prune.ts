import type { Keep } from "#server/backup-settings.ts"
import { readBlobList } from "./blob-list.ts"
import { storeFor } from "./encryption.ts"
import { chooseKept } from "./keep.ts"
import { readManifest } from "./manifest.ts"
import { openStored, type Place } from "./place.ts"
import type { StoredBackup } from "./stored-backup.ts"

/**
 * Removes the backups that `keep` does not ask for, and bytes that no remaining backup uses. `written` counts as
 * the newest, whatever the clocks say. Returns how many backups were removed. Nobody else may be
 * writing to the folder. Throws before removing anything if a backup does not say when it was taken
 * or which bytes it has.
 */
export async function pruneBackups(
  place: Place,
  { keep, written }: { keep: Keep; written: string },
): Promise<number> {
  const backups = await listByMoment(place, written)
  const remaining = chooseKept(backups, keep)
  const needed = new Map<string, Set<string>>()
  for (const { store, stored } of remaining) {
    const keys = needed.get(store) ?? new Set()
    needed.set(store, keys)
    for await (const { key } of readBlobList(stored)) keys.add(key)
  }
  const old = backups.filter((backup) => !remaining.includes(backup))
  for (const { name } of old) await place.remove(name)
  for (const store of await place.listStores()) {
    const bytes = await place.openStore(store)
    for (const state of ["stored", "unfinished"] as const) {
      for await (const { key } of bytes.list(state)) if (!needed.get(store)?.has(key)) await bytes.remove(key)
    }
  }
  return old.length
}

interface Taken {
  name: string
  /** Milliseconds since the epoch. */
  takenAt: number
  /** Where its bytes are. */
  store: string
  stored: StoredBackup
}

/** Oldest first. */
async function listByMoment(place: Place, written: string): Promise<Taken[]> {
  const others: Taken[] = []
  for (const name of await place.list()) if (name !== written) others.push(await openTaken(place, name))
  others.sort((one, other) => one.takenAt - other.takenAt)
  const newest = await openTaken(place, written)
  return [...others, { ...newest, takenAt: Math.max(newest.takenAt, others.at(-1)?.takenAt ?? 0) }]
}

async function openTaken(place: Place, name: string): Promise<Taken> {
  const { stored, encryption } = await openStored(place, name)
  const { takenAt } = encryption ?? (await readManifest(stored))
  return { name, takenAt: Date.parse(takenAt), store: storeFor(encryption?.recipients ?? []), stored }
}
