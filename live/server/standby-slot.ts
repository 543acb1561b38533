import { serversOf } from "../postgres/servers.ts"

/**
 * SQL for a standby: whether it receives the log from another server, and whether without a physical
 * slot there. Any role may ask.
 */
export const RECEIVES = "exists (select from pg_stat_wal_receiver)"
export const IS_WITHOUT_SLOT = "current_setting('primary_slot_name') = ''"

/** What to do about a standby that receives its log without a slot. */
export function adviseSlot(url: string): string {
  const [server] = serversOf(url)
  // What PostgreSQL allows in the name of a slot.
  const slot = `standby_${server?.host}_${server?.port}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .slice(0, 63)
  return (
    "It streams without a slot, so its primary may remove log and rows that it still needs. " +
    `Run on the primary: SELECT pg_create_physical_replication_slot('${slot}', true); ` +
    `and on it: ALTER SYSTEM SET primary_slot_name = '${slot}'; SELECT pg_reload_conf();`
  )
}
