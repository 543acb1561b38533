import type postgres from "postgres"

/**
 * Drops a database that programs may still be connected to, or reading the log of: `admin` is
 * connected to another one.
 *
 * @throws PostgresError where something holds on to it for more than 10 s after it was told to end
 */
export async function dropDatabase(admin: postgres.Sql, name: string): Promise<void> {
  // First: who loses a connection may be back before the next statement.
  await admin`alter database ${admin(name)} allow_connections false`
  // With the time it waits: a reader that only was told to end still has its slot, and a database
  // with a slot stays.
  await admin`select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = ${name}`
  await admin`select pg_drop_replication_slot(slot_name) from pg_replication_slots where database = ${name} and not active`
  await admin`drop database ${admin(name)} with (force)`
}
