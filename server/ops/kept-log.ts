import { sql } from "drizzle-orm"
import type { Scope } from "#server/scope.ts"

/** The WAL that PostgreSQL keeps for replication slots. */
export interface KeptLog {
  /** Bytes that it keeps for the slots of this database. */
  bytes: number
  /** The slot that nobody reads and that keeps most, of any database on the server. */
  unread: { slot: string; bytes: number } | null
  /** `max_slot_wal_keep_size`, such as `4GB`; null without a limit. */
  limit: string | null
}

export async function findKeptLog({ db }: Scope<"db">): Promise<KeptLog> {
  const [log] = await db.execute<{ bytes: number; limit: string; slot: string | null; unread: number }>(sql`
    with slots as (
      select slot_name, active, database,
        coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::float8 as bytes
      from pg_replication_slots)
    select
      (select coalesce(max(bytes), 0) from slots where database = current_database()) as bytes,
      current_setting('max_slot_wal_keep_size') as limit,
      unread.slot_name as slot, coalesce(unread.bytes, 0) as unread
    from (select) as one
    left join lateral (select * from slots where not active order by bytes desc limit 1) as unread on true`)
  return {
    bytes: log?.bytes ?? 0,
    unread: log?.slot ? { slot: log.slot, bytes: log.unread } : null,
    limit: log?.limit === "-1" ? null : (log?.limit ?? null),
  }
}
