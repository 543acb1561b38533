import { randomUUID } from "node:crypto"
import postgres from "postgres"
import { SCHEMA } from "./tables.ts"

/** A database with the test tables, in the cluster at `url`. */
export async function createDatabase(url: string) {
  const name = `realtime_${randomUUID().replaceAll("-", "")}`
  const admin = postgres(url, { max: 1, onnotice: () => {} })
  await admin`create database ${admin(name)}`
  const address = new URL(url)
  address.pathname = `/${name}`
  const sql = postgres(address.href, { max: 10, onnotice: () => {} })
  await sql.unsafe(SCHEMA)
  return {
    url: address.href,
    sql,
    async drop() {
      await sql.end({ timeout: 1 })
      await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
      await admin`select pg_drop_replication_slot(slot_name) from pg_replication_slots where database = ${name} and not active`
      await admin`drop database ${admin(name)} with (force)`
      await admin.end()
    },
  }
}

export type TestDatabase = Awaited<ReturnType<typeof createDatabase>>
