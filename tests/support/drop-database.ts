import type postgres from "postgres"

/**
 * Drops a database that programs may still be connected to, or whose log they may be reading.
 * `admin` is connected to another one.
 *
 * @throws PostgresError if something still uses it 10 s after being terminated
 */
export async function dropDatabase(admin: postgres.Sql, name: string): Promise<void> {
  // First: a client that loses its connection may be back before the next statement.
  await admin`alter database ${admin(name)} allow_connections false`
  // With a timeout: a reader that was only signalled still holds its slot, and a database with a
  // slot cannot be dropped.
  await admin`select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = ${name}`
  await admin`select pg_drop_replication_slot(slot_name) from pg_replication_slots where database = ${name} and not active`
  await admin`drop database ${admin(name)} with (force)`
}
