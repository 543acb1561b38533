import postgres from "postgres"
import { copyDatabase } from "../../support/copy-database.ts"
import { SCHEMA } from "./tables.ts"

/** A database with the tables of these tests, in the cluster at `url`. */
export async function createDatabase(url: string) {
  const copy = await copyDatabase(url, "template1")
  const sql = postgres(copy.url, { max: 10, onnotice: () => {} })
  await sql.unsafe(SCHEMA)
  return {
    url: copy.url,
    sql,
    async drop() {
      await sql.end({ timeout: 1 })
      await copy.drop()
    },
  }
}

export type TestDatabase = Awaited<ReturnType<typeof createDatabase>>
