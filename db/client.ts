import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js"
import postgres from "postgres"

export type Database = PostgresJsDatabase

/** A pool of at most `connections` connections. It connects on first use, and again by itself after PostgreSQL was away. */
export function openDatabase(url: string, { connections = 10 } = {}) {
  const client = postgres(url, {
    max: connections,
    connect_timeout: 10,
    backoff: (failures: number) => Math.min(3 ** failures / 100, 1), // seconds; a database that is back is used within one
    onnotice: () => {},
    connection: { application_name: "tideline" },
  })
  const db: Database = drizzle(client)
  return { db, close: () => client.end({ timeout: 5 }) }
}
