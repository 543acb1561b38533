import { randomUUID } from "node:crypto"
import postgres from "postgres"
import { dropDatabase } from "../../support/drop-database.ts"
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
      await dropDatabase(admin, name)
      await admin.end()
    },
  }
}

export type TestDatabase = Awaited<ReturnType<typeof createDatabase>>
