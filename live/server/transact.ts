import type postgres from "postgres"
import type { TransactionQuery } from "./mutate.ts"

/** What a mutation gets from `transactOn`: who calls it, and statements of its transaction. */
export interface SqlScope<Viewer> {
  readonly viewer: Viewer
  readonly query: TransactionQuery
}

/** Opens the transactions of mutations with a client of the postgres package. */
export function transactOn(sql: postgres.Sql) {
  return async function transact<Viewer, Value>(
    viewer: Viewer,
    work: (scope: SqlScope<Viewer>, query: TransactionQuery) => Promise<Value>,
  ): Promise<Value> {
    const done = await sql.begin(async (transaction) => {
      const query: TransactionQuery = (text, values) => transaction.unsafe(text, [...values])
      return { value: await work({ viewer, query }, query) }
    })
    return (done as { value: Value }).value
  }
}
