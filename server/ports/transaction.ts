import type { PostgresJsDatabase } from "drizzle-orm/postgres-js"

/** A transaction of the application's database, for providers that store accounts in it. */
export type Transaction = Parameters<Parameters<PostgresJsDatabase["transaction"]>[0]>[0]
