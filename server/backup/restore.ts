import { loadDump, refuseUnknownSchema, refuseUsedDatabase, type Loaded } from "#db/dump/load.ts"
import { migrate } from "#db/migrate.ts"
import type { Blobs } from "#server/ports/blobs.ts"
import { eachOf, type ListedBytes } from "./blob-list.ts"
import { holds } from "./digest.ts"
import type { Manifest } from "./manifest.ts"
import type { StoredBackup } from "./stored-backup.ts"
import { listKept, readTable, verifyBackup } from "./verify.ts"

export interface RestoreTarget {
  databaseUrl: string
  /** The folder with SQL files. */
  migrations: string
  /** The application's future blob store. */
  blobs: Blobs
  /** Keeps the sessions that existed at the time of the backup. */
  keepSessions: boolean
}

/**
 * Restores a backup into an empty installation: the bytes of files, the rows as they
 * were, then this version's schema. Throws an error that says what to do, before changing anything,
 * if the backup is incomplete or newer than this version, or the installation is not empty. If it
 * fails later, the installation is empty again.
 */
export async function restoreBackup(
  backup: StoredBackup,
  target: RestoreTarget,
): Promise<Loaded & { manifest: Manifest }> {
  const manifest = await verifyBackup(backup)
  refuseUnknownSchema(manifest.schema, target.migrations)
  await refuseUsedDatabase(target.databaseUrl)
  await refuseUsedStore(backup, manifest, target.blobs)
  const put = new Set<string>()
  try {
    await putBlobs(backup, manifest, target.blobs, put)
    const written = { ...manifest, open: (table: Manifest["tables"][number]) => readTable(backup, table) }
    const loaded = await loadDump(target.databaseUrl, target.migrations, written, async (run) => {
      for (const statement of leftOut(target)) await run((sql) => sql.unsafe(statement))
    })
    await migrate(target.databaseUrl, target.migrations)
    return { ...loaded, manifest }
  } catch (error) {
    if (!(await isLoaded(target))) for (const key of put) await target.blobs.remove(key)
    throw error
  }
}

/**
 * Bytes of this same backup are from a killed restore, or from the installation that is moving to
 * another database.
 */
async function refuseUsedStore(backup: StoredBackup, manifest: Manifest, store: Blobs) {
  const known = new Set<string>()
  for await (const { key } of listKept(backup, manifest)) known.add(key)
  for await (const { key } of store.list("stored")) {
    if (known.has(key)) continue
    throw new Error(
      `The store of files is not empty (${key}, for one). A backup is restored into a new one: another BLOBS_URL, or another DATA_DIR. ` +
        "Nothing was changed.",
    )
  }
}

/** Adds to `put` what was not there before. */
async function putBlobs(backup: StoredBackup, manifest: Manifest, store: Blobs, put: Set<string>) {
  await eachOf(listKept(backup, manifest), async (blob) => {
    if (await holds(store, blob)) return
    await store.remove(blob.key)
    put.add(blob.key)
    if (await putBlob(backup.kept, store, blob)) return
    throw new Error(`blobs/${blob.key} was removed from the backup during the restore.`)
  })
}

/**
 * Copies the bytes into the store, and reads them back. False if they are not there to copy. Throws
 * if the store changes them.
 */
export async function putBlob(kept: Pick<Blobs, "open">, store: Blobs, blob: ListedBytes): Promise<boolean> {
  const stream = await kept.open(blob.key)
  if (!stream) return false
  try {
    await store.put(blob.key, stream as AsyncIterable<Uint8Array>, { limit: blob.size })
  } finally {
    stream.destroy()
  }
  // What the store lists is not proof.
  if (await holds(store, blob)) return true
  throw new Error(
    `The store of files gives back other bytes for ${blob.key} than it was given. Check its disk.`,
  )
}

/** Statements that delete what must not come back with the rows. */
export function leftOut({ keepSessions }: Pick<RestoreTarget, "keepSessions">): string[] {
  return [
    // Its bytes were being removed and are not in the backup.
    "delete from blobs where not exists (select from files where storage_id = blobs._id)",
    // They sign realtime tokens and are encrypted with AUTH_SECRET, which may differ here. Missing
    // ones are created.
    "delete from auth.jwks",
    // A session that ended after the backup would be valid again.
    ...(keepSessions ? [] : ["delete from auth.session", "delete from auth.verification"]),
  ]
}

async function isLoaded({ databaseUrl }: RestoreTarget): Promise<boolean> {
  return refuseUsedDatabase(databaseUrl).then(
    () => false,
    () => true,
  )
}
