import { afterAll, afterEach, beforeAll, expect, inject } from "vitest"
import type { RealtimeLimits } from "../../../live/server/limits.ts"
import { ReferenceClient } from "./client.ts"
import { createDatabase, type TestDatabase } from "./database.ts"
import { startEngine, type Engine } from "./engine.ts"

/**
 * A database and an engine for the tests of one file, with clients that are checked and closed
 * after each test.
 */
export function engineSuite(limits: Partial<RealtimeLimits> = {}) {
  let database: TestDatabase | undefined
  let engine: Engine | undefined
  const clients: ReferenceClient[] = []

  beforeAll(async () => {
    database = await createDatabase(inject("postgresUrl"))
    engine = await startEngine(database.url, limits)
  })

  afterAll(async () => {
    await engine?.close()
    await database?.drop()
  })

  afterEach(async () => {
    const used = clients.splice(0)
    for (const client of used) client.close()
    if (database) await database.sql.unsafe("delete from messages; delete from threads")
    expect(used.flatMap(({ violations }) => violations)).toEqual([])
  })

  return {
    get sql() {
      return started(database).sql
    },
    get databaseUrl() {
      return started(database).url
    },
    get engine() {
      return started(engine)
    },
    /** A client that is not connected yet. */
    client(token = "ada", url = started(engine).url) {
      const client = new ReferenceClient(url, token)
      clients.push(client)
      return client
    },
    async connect(token = "ada", url = started(engine).url) {
      const client = this.client(token, url)
      await client.connect()
      return client
    },
  }
}

function started<Thing>(thing: Thing | undefined): Thing {
  if (!thing) throw new Error("The suite has not started.")
  return thing
}
