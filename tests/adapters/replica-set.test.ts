import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { ReplicaSet } from "#db/embedded/replica-set.ts"
import type { ReplicaNode } from "#db/embedded/replica-node.ts"
import { startTestReplicaSet } from "../support/replica-set.ts"

describe("a replica set", () => {
  let set: ReplicaSet

  beforeAll(async () => {
    set = await startTestReplicaSet({ standbys: 2, settings: { synchronous_standby_names: "any 1 (b, c)" } })
    await on(set.primary, (sql) => sql`create table numbers (n int)`)
  }, 120_000)
  afterAll(() => set.stop())

  it("has standbys that receive what the primary commits", async () => {
    await write(set.primary, 1)
    for (const standby of set.standbys) {
      await whenRead(standby, [1])
      expect(await standby.isPrimary()).toBe(false)
    }
    const names = await on(
      set.primary,
      (sql) => sql`select application_name as name, sync_state as state from pg_stat_replication order by 1`,
    )
    expect(names.map(({ name, state }) => [name, state])).toEqual([
      ["b", "quorum"],
      ["c", "quorum"],
    ])
  })

  it("can pause what a standby replays", async () => {
    const [standby] = set.standbys
    await standby!.pauseReplay()
    await write(set.primary, 2)
    expect(await read(standby!)).toEqual([1])
    await standby!.resumeReplay()
    await whenRead(standby!, [1, 2])
  })

  it("can delay what a standby replays", async () => {
    const [standby] = set.standbys
    await standby!.delayReplay(3_600_000)
    await write(set.primary, 3)
    await whenRead(set.standbys[1]!, [1, 2, 3])
    expect(await read(standby!)).toEqual([1, 2])
    await standby!.delayReplay(0)
    await whenRead(standby!, [1, 2, 3])
  })

  it("waits for a standby that hangs, and goes on when it does", async () => {
    for (const standby of set.standbys) standby.pause()
    const writing = write(set.primary, 4)
    expect(await Promise.race([writing.then(() => "committed"), seen(set.primary)])).toBe("waits")
    set.standbys[1]!.resume()
    await writing
    set.standbys[0]!.resume()
    await whenRead(set.standbys[0]!, [1, 2, 3, 4])
  })

  it("loses nothing when its primary is killed, and takes it back as a standby", async () => {
    const [old, , third] = set.nodes
    await write(old!, 5)
    await set.primary.kill()
    expect(old!.isRunning).toBe(false)
    // Either of them confirmed it, and only one that has it may be promoted.
    await whenRead(set.nodes[1]!, [1, 2, 3, 4, 5])
    await set.failOver(set.nodes[1]!)
    expect(set.primary.name).toBe("b")
    await third!.whenStreaming()
    await set.primary.set({ synchronous_standby_names: "any 1 (a, c)" })
    await write(set.primary, 6)
    await whenRead(third!, [1, 2, 3, 4, 5, 6])
    await set.rejoin(old!)
    await whenRead(old!, [1, 2, 3, 4, 5, 6])
    expect(await old!.isPrimary()).toBe(false)
  })
})

async function on<Result>(node: ReplicaNode, work: (sql: postgres.Sql) => Promise<Result>): Promise<Result> {
  const sql = postgres(node.url, { max: 1, onnotice: () => {} })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function write(node: ReplicaNode, n: number) {
  await on(node, (sql) => sql`insert into numbers values (${n})`)
}

function read(node: ReplicaNode): Promise<number[]> {
  return on(node, async (sql) => {
    const rows = await sql<{ n: number }[]>`select n from numbers order by n`
    return rows.map(({ n }) => n)
  })
}

async function whenRead(node: ReplicaNode, expected: number[]) {
  await expect.poll(() => read(node), { timeout: 20_000, interval: 20 }).toEqual(expected)
}

/** Resolves when a commit on the node waits for its standbys. */
async function seen(node: ReplicaNode): Promise<string> {
  await expect
    .poll(() => on(node, (sql) => sql`select 1 from pg_stat_activity where wait_event = 'SyncRep'`), {
      timeout: 20_000,
      interval: 20,
    })
    .toHaveLength(1)
  return "waits"
}
