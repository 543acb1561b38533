import { randomUUID } from "node:crypto"
import postgres from "postgres"
import { inject } from "vitest"
import { openDatabase } from "#db/client.ts"
import { databaseUrl, TEMPLATE } from "./database-url.ts"
import { dropDatabase } from "./drop-database.ts"

/** A database of its own, on the PostgreSQL that all tests share: with the newest schema, or with nothing. */
export async function createTestDatabase({ empty = false } = {}) {
  const cluster = inject("postgresUrl")
  const name = `test_${randomUUID().replaceAll("-", "")}`
  await administer(
    cluster,
    (sql) => sql`create database ${sql(name)} template ${sql(empty ? "template1" : TEMPLATE)}`,
  )
  const url = databaseUrl(cluster, name)
  const { db, close } = openDatabase(url)
  return {
    url,
    db,
    async close() {
      await close()
      await administer(cluster, (sql) => dropDatabase(sql, name))
    },
  }
}

async function administer(cluster: string, work: (sql: postgres.Sql) => Promise<unknown>) {
  const sql = postgres(cluster, { max: 1, onnotice: () => {} })
  try {
    await work(sql)
  } finally {
    await sql.end()
  }
}
