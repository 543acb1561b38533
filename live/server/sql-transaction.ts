import type postgres from "postgres"

import { isLost } from "../postgres/outage.ts"

/** Milliseconds. */
const STATEMENT_TIMEOUT = 30_000

/**
 * Runs the work between `begin` and `commit` on a client that nobody else uses. The first statement
 * of the work shares a round trip with `begin`. The postgres package's own `begin` would write the
 * rollback into a lost connection, which ends the process.
 */
export async function inTransaction<Result>(
  sql: postgres.Sql,
  mode: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const begun = sql.unsafe(`begin ${mode}; set local statement_timeout = ${STATEMENT_TIMEOUT}`).execute()
  try {
    const [, result] = await Promise.all([begun, work()])
    await sql.unsafe("commit")
    return result
  } catch (error) {
    if (!isLost(error)) await sql.unsafe("rollback")
    throw error
  }
}
