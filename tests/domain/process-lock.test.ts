import { sql } from "drizzle-orm"
import { expect, it, onTestFinished } from "vitest"
import { holdProcessLock, livingProcesses } from "#db/process-lock.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { withResource } from "../support/with-resource.ts"

const database = withResource(createTestDatabase)

it("a process counts as alive while it holds its lock", async () => {
  const lock = await holdProcessLock(database.url)
  const other = await holdProcessLock(database.url)
  onTestFinished(() => other.close())
  expect(await living()).toEqual(expect.arrayContaining([lock.number, other.number]))
  await lock.close()
  await expect.poll(living).not.toContain(lock.number)
  expect(await living()).toContain(other.number)
})

it("a lock that was lost with its connection is acquired again, and its holder is notified", async () => {
  const lock = await holdProcessLock(database.url)
  onTestFinished(() => lock.close())
  const regained = new Promise<void>((resolve) => lock.onRegained(resolve))
  await database.db.execute(sql`
    select pg_terminate_backend(pid) from pg_locks
    where locktype = 'advisory' and objsubid = 2 and objid = ${lock.number}::bigint::oid`)
  await regained
  expect(await living()).toContain(lock.number)
})

it("other advisory locks are not counted as processes", async () => {
  await database.db.transaction(async (tx) => {
    await tx.execute(
      sql`select pg_advisory_xact_lock(7185392, 5), pg_advisory_xact_lock((7185392::bigint << 32) | 6)`,
    )
    expect(await living()).toContain(5)
    expect(await living()).not.toContain(6)
  })
})

async function living() {
  const rows = await database.db.execute<{ number: string }>(
    sql`select number from (${livingProcesses}) as living (number)`,
  )
  return rows.map(({ number }) => Number(number))
}
