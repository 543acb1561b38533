import { inject } from "vitest"
import { openDatabase } from "#db/client.ts"
import { copyDatabase } from "./copy-database.ts"
import { TEMPLATE } from "./database-url.ts"

/** A new database on the PostgreSQL that all tests share: with the newest schema, or empty. */
export async function createTestDatabase({ empty = false } = {}) {
  const copy = await copyDatabase(inject("postgresUrl"), empty ? "template1" : TEMPLATE)
  const { db, close } = openDatabase(copy.url)
  return {
    url: copy.url,
    db,
    async close() {
      await close()
      await copy.drop()
    },
  }
}
