import { existsSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { eq, sql } from "drizzle-orm"
import { onDatabase, type Database } from "#db/client.ts"
import { forgetRecovery, isPrepared, prepareRecovery } from "#db/embedded/prepare-recovery.ts"
import { recoverCluster } from "#db/embedded/recover.ts"
import { archiveOf } from "#db/embedded/wal-archive.ts"
import { RENEW_INSTALLATION } from "#db/installation.ts"
import { migrate } from "#db/migrate.ts"
import { blobs as blobRows, files } from "#db/schema/files.ts"
import type { Blobs } from "#server/ports/blobs.ts"
import { eachOf } from "#server/backup/blob-list.ts"
import { holds } from "#server/backup/digest.ts"
import { leftOut, putBlob } from "#server/backup/restore.ts"
import { listBases, type Base } from "./bases.ts"
import { historyBlobsIn } from "./blobs.ts"

export interface MomentTarget {
  /** The folder of the embedded PostgreSQL. */
  database: string
  /** The folder with SQL files. */
  migrations: string
  /** The application's future blob store. */
  blobs: Blobs
  keepSessions: boolean
  /** Whether the history continues with what is restored; otherwise it is only read. */
  continues: boolean
  openFolder(path: string): Promise<Blobs>
}

export interface Restored {
  /** When the last restored transaction was committed. Milliseconds; null if none was since the copy. */
  lastCommit: number | null
  /** False if nothing later was archived than what was restored. */
  isReached: boolean
  /** The names of the files whose bytes are missing. */
  lost: string[]
}

/**
 * Restores the state of a moment into an empty installation: rows, then the bytes of their files.
 * `moment` is in milliseconds since the epoch; the newest state if null. Throws an error that says
 * what to do, before changing anything, if the history does not have the moment or the installation
 * is not empty.
 */
export async function restoreMoment(
  history: string,
  moment: number | null,
  target: MomentTarget,
): Promise<Restored> {
  const { archive, base } = await chooseBase(history, moment)
  refuseUsedFolder(target.database)
  await refuseStoredBytes(target.blobs)
  const kept = await target.openFolder(historyBlobsIn(archive))
  const put = new Set<string>()
  try {
    const { result, ...recovered } = await recoverCluster(
      { base, archive, until: moment, directory: target.database, continuesArchive: target.continues },
      (url) => settle(url, kept, target, put),
    )
    return { ...recovered, lost: result }
  } catch (error) {
    for (const key of put) await target.blobs.remove(key)
    throw error
  }
}

/**
 * Prepares the folder of a PostgreSQL that is not ours, so that it recovers to the moment when it
 * starts. Returns where the earlier cluster was moved; null if there was none.
 */
export async function prepareMoment(
  history: string,
  moment: number | null,
  cluster: string,
): Promise<string | null> {
  const { archive, base } = await chooseBase(history, moment)
  return prepareRecovery({ base, archive, until: moment, cluster })
}

/**
 * What follows when that PostgreSQL has recovered: the bytes of files, and what must not come back
 * with the rows. Bytes that the store has already stay. Returns the names of the files whose bytes
 * are missing.
 */
export async function finishMoment(
  history: string,
  cluster: string,
  { url, ...target }: Omit<MomentTarget, "database" | "continues"> & { url: string },
): Promise<string[]> {
  if (!isPrepared(cluster))
    throw new Error(`${cluster} was not restored to a moment, or that is finished. Nothing was changed.`)
  await waitForPromotion(url)
  const kept = await target.openFolder(historyBlobsIn(archiveOf(history, cluster)))
  const lost = await settle(url, kept, target, new Set())
  await forgetRecovery(cluster)
  return lost
}

/** It answers while it recovers, and then takes no writes. */
async function waitForPromotion(url: string) {
  return onDatabase(url, { connections: 1 }, async (db) => {
    for (;;) {
      const [state] = await db.execute<{ recovers: boolean }>(sql`select pg_is_in_recovery() as recovers`)
      if (state?.recovers === false) return
      await pause(500)
    }
  })
}

/** Adds to `put` the keys of what it may have written into the store. */
async function settle(
  url: string,
  kept: Blobs,
  target: Pick<MomentTarget, "blobs" | "keepSessions" | "migrations">,
  put: Set<string>,
): Promise<string[]> {
  await migrate(url, target.migrations)
  return onDatabase(url, { connections: 2 }, async (db) => {
    await db.transaction(async (tx) => {
      for (const statement of [...leftOut(target), RENEW_INSTALLATION]) await tx.execute(sql.raw(statement))
    })
    return await putBlobs(db, kept, target.blobs, put)
  })
}

/** The newest copy that is older than the moment, of all clusters. */
async function chooseBase(history: string, moment: number | null): Promise<{ archive: string; base: Base }> {
  const found: { archive: string; base: Base }[] = []
  const names = await readdir(history).catch(() => [])
  for (const system of names.filter((name) => /^\d+$/.test(name))) {
    const archive = join(history, system)
    for (const base of await listBases(archive)) found.push({ archive, base })
  }
  found.sort((one, other) => one.base.completeAt - other.base.completeAt)
  const [first] = found
  if (!first)
    throw new Error(
      `There is no history in ${history}. It is kept by a Tideline that runs with BACKUP_HISTORY. Nothing was changed.`,
    )
  const chosen = moment === null ? found.at(-1) : found.findLast(({ base }) => base.completeAt <= moment)
  if (chosen) return chosen
  throw new Error(
    `The history begins at ${new Date(first.base.completeAt).toISOString()}. Choose a later moment. Nothing was changed.`,
  )
}

function refuseUsedFolder(database: string) {
  if (!existsSync(database)) return
  throw new Error(
    `There is a database in ${database} already. A moment is restored into a new installation: another DATA_DIR, or move this one aside. ` +
      "Nothing was changed.",
  )
}

async function refuseStoredBytes(store: Blobs) {
  for await (const { key } of store.list("stored"))
    throw new Error(
      `The store of files is not empty (${key}, for one). A moment is restored into a new one: another BLOBS_URL, or another DATA_DIR. ` +
        "Nothing was changed.",
    )
}

async function putBlobs(db: Database, kept: Blobs, store: Blobs, put: Set<string>): Promise<string[]> {
  const lost = new Set<string>()
  const listed = await db
    .selectDistinctOn([blobRows.key], {
      key: blobRows.key,
      size: blobRows.size,
      sha256: blobRows.sha256,
      name: files.fileName,
    })
    .from(blobRows)
    .innerJoin(files, eq(files.storageId, blobRows._id))
  await eachOf(listed, async (blob) => {
    if (await holds(store, blob)) return
    await store.remove(blob.key)
    put.add(blob.key)
    if (!(await holds(kept, blob)) || !(await putBlob(kept, store, blob))) lost.add(blob.name)
  })
  return [...lost].toSorted()
}
