import { sql, type SQL } from "drizzle-orm"

/** Held by the running backup. A second one would only do the same work. */
export const BACKUP_LOCK = 7_185_393

/**
 * Held by a backup until it has all bytes, and shared by everything that deletes bytes that a row
 * refers to.
 */
export const REMOVAL_LOCK = 7_185_394

/**
 * Requests, in a transaction, to delete bytes that a row refers to. While `allowed` is false, a
 * backup is running that has the row and may not have the bytes yet. Once it is true, backups wait
 * for the end of the transaction.
 */
export const mayRemoveBytes: SQL = sql`
  select pg_try_advisory_xact_lock_shared(${sql.raw(String(REMOVAL_LOCK))}) as allowed`

/** Another process is taking a backup: of this database, or into this folder. */
export class BackupRunning extends Error {}
