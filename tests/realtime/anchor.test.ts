import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest"
import { startCluster, type Cluster } from "./support/cluster.ts"
import { startEngine } from "./support/engine.ts"

let cluster: Cluster

beforeAll(async () => {
  cluster = await startCluster({ checkpoint_timeout: "1h", max_wal_size: "4GB" })
})

afterAll(() => cluster.stop())

/** An hour, so that nothing expires. */
const HOUR = 60 * 60 * 1000

it("log written while no process ran is released at the start, except what is read again", async () => {
  const ringBytes = 8 * 1024 * 1024
  const limits = { ringBytes, anchorMs: HOUR, windowMs: HOUR }
  const before = await startEngine(cluster.url, limits)
  await before.close()
  for (let part = 0; part < 24; part++) {
    await cluster.admin`select pg_logical_emit_message(false, 'other', repeat('x', 1000000)) from generate_series(1, 2)`
    await cluster.admin`select pg_log_standby_snapshot()`
  }
  expect(await held()).toBeGreaterThan(40_000_000)
  const after = await startEngine(cluster.url, limits)
  onTestFinished(() => after.close())
  await expect.poll(held).toBeLessThan(2 * ringBytes)
})

async function held(): Promise<number> {
  const [slot] = await cluster.admin`
    select pg_current_wal_lsn() - restart_lsn as held from pg_replication_slots where not temporary`
  return Number(slot?.["held"])
}
