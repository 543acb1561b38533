import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js"
import type postgres from "postgres"
import { type ConnectionPool, openConnectionPool, openOneConnection } from "#live/check"
import { createShares } from "./shares.ts"
import { inSavepoint, inTransaction, type Run } from "./transaction.ts"

export type Database = PostgresJsDatabase

export type Transaction = Parameters<Parameters<Database["transaction"]>[0]>[0]

/** Statements that are kept prepared. Each takes some 10 KB on every connection in PostgreSQL. */
const PREPARED = 300

/** Called with each statement's text. It runs the statement, and can measure it. */
export type Around = <Result>(text: string, run: () => Promise<Result>) => Promise<Result>

export interface DatabaseOptions {
  connections?: number
  /**
   * Whether `url` may be that of a pooler that gives each transaction another session: then nothing
   * is prepared.
   */
  pooled?: boolean
  around?: Around
}

export interface OpenDatabase {
  db: Database
  /** The same connections, with a limit for each person: for work that is done at their request. */
  dbFor(person: string): Database
  /** A dedicated connection for health checks: no query can keep it busy. */
  probe: Database
  close(): Promise<void>
}

/**
 * Uses at most `connections` connections plus one for probes. Connects on first use, and reconnects
 * automatically after an outage of PostgreSQL. A transaction stays on its connection and fails if
 * that is lost.
 */
export function openDatabase(
  url: string,
  { connections: count = 6, pooled = false, around = (_, run) => run() }: DatabaseOptions = {},
): OpenDatabase {
  const connections = openConnectionPool(count, (onclose) => openDrizzled(url, pooled, onclose))
  const aside = openConnectionPool(1, (onclose) => openDrizzled(url, pooled, onclose))
  const shares = createShares()
  const how = { isRepeated: pooled ? () => false : rememberTexts(), around }
  return {
    db: over(connections.use, how),
    dbFor: (person) => over((work) => shares.use(person, () => connections.use(work)), how),
    probe: over(aside.use, how),
    close: async () => void (await Promise.all([connections.close(), aside.close()])),
  }
}

/** Does `work` on a database that is opened for it alone. */
export async function onDatabase<Result>(
  url: string,
  options: DatabaseOptions,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const { db, close } = openDatabase(url, options)
  try {
    return await work(db)
  } finally {
    await close()
  }
}

/**
 * Everything that Drizzle's session uses of a client is here; tests/domain/database.test.ts uses
 * each part.
 */
function over(withConnection: ConnectionPool["use"], how: How): Database {
  const client = {
    ...statements((statement) => withConnection((connection) => connection.run(statement)), how),
    options: { parsers: {}, serializers: {} }, // Drizzle's changes to these are made in openDrizzled.
    begin: <Result>(work: (client: TransactionClient) => Promise<Result>) =>
      withConnection((connection) => inTransaction(connection, (run) => work(transactionClient(run, how)))),
  }
  return drizzle(client as unknown as postgres.Sql)
}

function openDrizzled(url: string, pooled: boolean, onclose: () => void) {
  const client = openOneConnection(url, { application: "tideline", pooled, onclose })
  drizzle(client) // called for its side effect: the client leaves dates and JSON to Drizzle
  return client
}

interface TransactionClient extends Statements {
  savepoint<Result>(work: (client: TransactionClient) => Promise<Result>): Promise<Result>
}

interface How {
  isRepeated: IsRepeated
  around: Around
}

function transactionClient(run: Run, how: How, depth = 1): TransactionClient {
  return {
    ...statements(run, how),
    savepoint: (work) =>
      inSavepoint(run, `level_${depth}`, (inner) => work(transactionClient(inner, how, depth + 1))),
  }
}

type IsRepeated = (text: string) => boolean

/**
 * Decides which statements are prepared: a prepared one takes half the round trips, and is parsed
 * and planned once. These are the first `PREPARED` that occur twice; some, such as those with a
 * list of ids, keep occurring in new lengths.
 */
function rememberTexts(): IsRepeated {
  const repeated = new Set<string>()
  const seen = new Set<string>()
  return (text) => {
    if (repeated.has(text)) return true
    if (repeated.size === PREPARED) return false
    if (seen.delete(text)) repeated.add(text)
    else {
      if (seen.size === PREPARED) seen.clear()
      seen.add(text)
    }
    return repeated.has(text)
  }
}

interface Statements {
  unsafe(
    text: string,
    values?: postgres.ParameterOrJSON<never>[],
    options?: postgres.UnsafeQueryOptions,
  ): Promise<unknown> & { values(): Promise<unknown> }
}

/**
 * Statements as Drizzle sends them: it requests rows as arrays right after the call, with `values`.
 */
function statements(run: Run, { isRepeated, around }: How): Statements {
  return {
    unsafe(text, values = [], options = {}) {
      let asArrays = false
      const prepare = options.prepare === true || (values.length > 0 && isRepeated(text))
      const result = Promise.resolve().then(() =>
        around(text, () =>
          run<unknown>(async (sql) => {
            const query = sql.unsafe(text, values, { ...options, prepare })
            return asArrays ? await query.values() : await query
          }),
        ),
      )
      return Object.assign(result, {
        values() {
          asArrays = true
          return result
        },
      })
    },
  }
}
