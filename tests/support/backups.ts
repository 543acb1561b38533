import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { sql } from "drizzle-orm"
import { onTestFinished } from "vitest"
import type { Database } from "#db/client.ts"
import { openDiskBlobs } from "#server/adapters/blobs/disk.ts"
import { backUp, type BackupTarget } from "#server/backup/back-up.ts"
import { restoreBackup } from "#server/backup/restore.ts"
import { backupInFolder, type StoredBackup } from "#server/backup/stored-backup.ts"
import type { Blobs } from "#server/ports/blobs.ts"
import type { FileDrawer } from "./file-drawer.ts"
import { createTestDatabase } from "./postgres.ts"

export const migrations = resolve(import.meta.dirname, "../../db/migrations")

export function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "backup-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A folder of backups. */
export async function openShelf(directory = aFolder()) {
  const kept = await openDiskBlobs(join(directory, "blobs"))
  return {
    directory,
    kept,
    take: (
      { databaseUrl, blobs }: Pick<FileDrawer, "databaseUrl" | "blobs">,
      options: Partial<BackupTarget> = {},
    ) =>
      backUp(
        { databaseUrl, blobs, version: "0.0.1" },
        { directory, openFolder: openDiskBlobs, recipients: [], skipLost: false, ...options },
      ),
    /** A backup in it, to be read. */
    stored: (folder: string) => backupInFolder(folder, kept),
  }
}

export type Shelf = Awaited<ReturnType<typeof openShelf>>

/** An installation without any data. */
export async function openNewPlace() {
  const { url, db, close } = await createTestDatabase({ empty: true })
  const directory = aFolder()
  const store = await openDiskBlobs(directory)
  onTestFinished(close)
  const place = {
    url,
    db,
    directory,
    blobs: store,
    restore: (
      folder: string,
      { kept }: Pick<Shelf, "kept">,
      options: { keepSessions?: boolean; blobs?: Blobs; migrations?: string } = {},
    ) => place.restoreStored(backupInFolder(folder, kept), options),
    restoreStored: (
      backup: StoredBackup,
      options: { keepSessions?: boolean; blobs?: Blobs; migrations?: string } = {},
    ) =>
      restoreBackup(backup, {
        databaseUrl: url,
        migrations,
        blobs: store,
        keepSessions: true,
        ...options,
      }),
    async isEmpty() {
      const [tables] = await db.execute<{ count: number }>(
        sql`select count(*)::int from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
      )
      return tables?.count === 0 && (await keysOf(store)).length === 0
    },
  }
  return place
}

export async function keysOf(store: Blobs): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of store.list("stored")) keys.push(key)
  return keys.toSorted()
}

/** The row count and a hash of the sorted rows of every table, by table name. */
export async function digestsOf(db: Database): Promise<Record<string, string>> {
  const tables = await db.execute<{ name: string }>(sql`
    select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'auth') order by 1`)
  const digests: Record<string, string> = {}
  for (const { name } of tables) {
    const [digest] = await db.execute<{ rows: string }>(
      sql.raw(
        `select count(*) || ' ' || coalesce(md5(string_agg(t::text, e'\\n' order by t::text collate "C")), '') as rows from ${name} t`,
      ),
    )
    digests[name] = digest?.rows ?? ""
  }
  return digests
}
