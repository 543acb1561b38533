import { randomUUID } from "node:crypto"
import postgres from "postgres"
import { databaseUrl } from "./database-url.ts"
import { dropDatabase } from "./drop-database.ts"

/**
 * A new database on the PostgreSQL at `cluster`, copied from `template`. Its files are copied,
 * because the log would hold 5 MB for each copy, and every server's stream reads all of the log.
 */
export async function copyDatabase(cluster: string, template: string) {
  const name = `test_${randomUUID().replaceAll("-", "")}`
  await administer(
    cluster,
    (sql) => sql`create database ${sql(name)} template ${sql(template)} strategy file_copy`,
  )
  return {
    url: databaseUrl(cluster, name),
    drop: () => administer(cluster, (sql) => dropDatabase(sql, name)),
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
