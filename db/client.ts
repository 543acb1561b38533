import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js"
import type postgres from "postgres"
import { openOneConnection, openConnectionPool, type ConnectionPool } from "./connections.ts"
import { createShares } from "./shares.ts"
import { inSavepoint, inTransaction, type Run } from "./transaction.ts"

export type Database = PostgresJsDatabase

export type Transaction = Parameters<Parameters<Database["transaction"]>[0]>[0]

/**
 * Texts of statements that are kept prepared. Each costs PostgreSQL some ten KB on every
 * connection.
 */
const PREPARED = 300

/** Called with each statement's text: runs it, and may look how long that takes. */
export type Around = <Result>(text: string, run: () => Promise<Result>) => Promise<Result>

export interface DatabaseOptions {
  connections?: number
  /**
   * Whether `url` may be a pooler's that gives each transaction another session: then nothing is
   * prepared.
   */
  pooled?: boolean
  around?: Around
}

export interface OpenDatabase {
  db: Database
  /**
   * The same connections, of which a person holds a few at most: for what is done because they ask.
   */
  dbFor(person: string): Database
  /** A connection of its own, for checks of the process: no query can keep it busy. */
  probe: Database
  close(): Promise<void>
}

/**
 * Over at most `connections` connections, and one. It connects on first use, and again by itself
 * after PostgreSQL was away. A transaction stays on its connection and is refused when that is
 * lost.
 */
export function openDatabase(
  url: string,
  { connections: count = 10, pooled = false, around = (_, run) => run() }: DatabaseOptions = {},
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

/**
 * All that Drizzle's session asks of a client is here; tests/domain/database.test.ts uses each
 * part.
 */
function over(withConnection: ConnectionPool["use"], how: How): Database {
  const client = {
    ...statements((statement) => withConnection((connection) => connection.run(statement)), how),
    options: { parsers: {}, serializers: {} }, // Drizzle's changes to these are made in openDrizzled
    begin: <Result>(work: (client: TransactionClient) => Promise<Result>) =>
      withConnection((connection) => inTransaction(connection, (run) => work(transactionClient(run, how)))),
  }
  return drizzle(client as unknown as postgres.Sql)
}

function openDrizzled(url: string, pooled: boolean, onclose: () => void) {
  const client = openOneConnection(url, { application: "tideline", pooled, onclose })
  drizzle(client) // for its effect: the client leaves dates and JSON to Drizzle
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
 * Tells which texts are sent again: a statement that is prepared takes half the round trips, and is
 * parsed and planned once. The first `PREPARED` that come twice; some, such as those with a list of
 * ids, come in ever new lengths.
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
 * Statements as Drizzle sends them: it says right after the call, with `values`, that it wants rows
 * as arrays.
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
