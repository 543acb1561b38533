import type postgres from "postgres"
import { expect } from "vitest"
import type { Followed, ReferenceClient } from "./client.ts"

/** The expected rows, read from the table itself with the same range. */
export async function storedMessages(sql: postgres.Sql, threadId: string) {
  const rows = await sql`
    select _id, thread_id as "threadId", owner, body, note, _creation_time::int as "_creationTime"
    from messages where thread_id = ${threadId} order by _id`
  return Array.from(rows)
}

/** Resolves when the client has passed everything committed so far. Throws if its connection ends. */
export async function catchUp(sql: postgres.Sql, client: ReferenceClient): Promise<void> {
  const [place] = await sql`
    select pg_logical_emit_message(true, 'test', 'mark'), lpad(to_hex((pg_current_wal_insert_lsn() - '0/0')::int8), 16, '0') as lsn`
  const lsn = String(place?.["lsn"]).toUpperCase()
  client.emit("acknowledge", { sequence: 0, awaiting: lsn })
  const hasPassed = () => (client.position?.lsn ?? "") >= lsn
  await client.until(() => hasPassed() || client.broken || !client.connected, `position ${lsn}`)
  if (!hasPassed()) throw new Error(`The connection ended before position ${lsn}.`)
}

/**
 * Waits until the client has passed everything committed so far, and compares its rows with the
 * table.
 */
export async function expectEqual(sql: postgres.Sql, client: ReferenceClient, lists: readonly Followed[]) {
  await catchUp(sql, client)
  for (const list of lists) {
    const { threadId } = list.args as { threadId: string }
    expect(
      list.state,
      `reset for ${client.resetReasons.join()}, refused with ${JSON.stringify(list.refusal)}`,
    ).toBe("live")
    expect(client.rowsOf(list)).toEqual(await storedMessages(sql, threadId))
  }
  expect(client.violations).toEqual([])
}
