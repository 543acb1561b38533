import { sql, type SQL } from "drizzle-orm"

/** Held by the backup that runs; a second one would only double the work. */
export const BACKUP_LOCK = 7_185_393

/**
 * Held by a backup until it has all bytes, and shared by everything that removes bytes that a row
 * names.
 */
export const REMOVAL_LOCK = 7_185_394

/**
 * Asks, in a transaction, to remove bytes that a row names. While `allowed` is false a backup runs
 * that has the row and may not have the bytes yet; once it is true, backups wait for the end of the
 * transaction.
 */
export const mayRemoveBytes: SQL = sql`
  select pg_try_advisory_xact_lock_shared(${sql.raw(String(REMOVAL_LOCK))}) as allowed`
