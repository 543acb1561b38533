import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest"
import { slotOf, type ReplicaNode } from "#db/embedded/replica-node.ts"
import type { ReplicaSet } from "#db/embedded/replica-set.ts"
import { inAll } from "../support/all.ts"
import { startTideline } from "../support/app.ts"
import { runBuiltCommand } from "../support/commands.ts"
import { startTestReplicaSet } from "../support/replica-set.ts"

let set: ReplicaSet
let folder: string
beforeAll(async () => {
  set = await startTestReplicaSet({ standbys: 1, settings: { max_replication_slots: "6" } })
  folder = mkdtempSync(join(tmpdir(), "followed-"))
}, 120_000)
afterAll(async () => {
  await set.stop()
  rmSync(folder, { recursive: true })
})

const settings = () => ({
  DATABASE_URL: set.url,
  FOLLOW_DATABASE_URL: set.nodes.map(({ url }) => url).join(),
})

describe("npm run doctor", () => {
  it("finds every followed server sound", async () => {
    const { code, problems, findings } = await runDoctor()
    expect({ code, problems }).toEqual({ code: 0, problems: [] })
    expect(findings).toEqual([
      expect.stringMatching(/^ok 127\.0\.0\.1:\d+: PostgreSQL 1[78]\.\d+, the primary\. \d of 6 slots and/),
      expect.stringMatching(/^ok 127\.0\.0\.1:\d+: PostgreSQL 1[78]\.\d+, a standby\. 6 of 6 slots and/),
    ])
  })

  it("names what to change on a standby that cannot be relied on", async () => {
    const [standby] = set.standbys
    const slot = slotOf(standby!.name)
    await standby!.set({
      hot_standby_feedback: "off",
      primary_slot_name: "",
      recovery_min_apply_delay: "1min",
    })
    await expect.poll(() => isRead(slot), { timeout: 20_000 }).toBe(false)
    await standby!.whenStreaming()
    const names = [1, 2, 3, 4, 5].map((n) => `taken_${n}`)
    await on(standby!, async (sql) => {
      for (const name of names) await sql`select pg_create_physical_replication_slot(${name})`
    })
    onTestFinished(async () => {
      await on(standby!, async (sql) => {
        for (const name of names) await sql`select pg_drop_replication_slot(${name})`
      })
      await standby!.set({
        hot_standby_feedback: null,
        primary_slot_name: slot,
        recovery_min_apply_delay: null,
      })
      await expect.poll(() => isRead(slot), { timeout: 20_000 }).toBe(true)
    })
    const { code, problems, findings } = await runDoctor()
    expect({ code, problems }).toEqual({ code: 0, problems: [] })
    expect(findings).toEqual([
      expect.stringContaining("the primary"),
      expect.stringMatching(
        /^warning .*1 of 6 \(max_replication_slots\) are free.* ALTER SYSTEM SET max_replication_slots = 12;/,
      ),
      expect.stringMatching(
        new RegExp(
          `^warning 127\\.0\\.0\\.1:${standby!.port}: It streams without a slot.* ALTER SYSTEM SET primary_slot_name = 'standby_127_0_0_1_${standby!.port}';`,
        ),
      ),
      expect.stringMatching(/^warning .*ALTER SYSTEM SET hot_standby_feedback = on;/),
      expect.stringMatching(/^warning .*Remove recovery_min_apply_delay/),
    ])
  })

  inAll(
    "names the right that a role lacks, a server that does not answer, and one of another cluster",
    async () => {
      await on(set.primary, async (sql) => {
        await sql.unsafe("create role follower with login replication password 'secret'")
        // The standby must know the role before it is used there.
        await sql`select pg_switch_wal()`
      })
      const url = new URL(set.standbys[0]!.url)
      url.username = "follower"
      url.password = "secret"
      await expect.poll(() => canConnect(url.href), { timeout: 20_000 }).toBe(true)
      const other = inject("postgresUrl")
      const { code, findings } = await runDoctor({
        FOLLOW_DATABASE_URL: [url.href, "postgres://nobody@127.0.0.1:9/none", other].join(),
      })
      expect(findings).toEqual([
        expect.stringContaining('GRANT EXECUTE ON FUNCTION pg_log_standby_snapshot() TO "follower";'),
        expect.stringMatching(/^warning 127\.0\.0\.1:9 cannot be read from\./),
        expect.stringMatching(/^problem .*It is not a copy of the server behind DATABASE_URL\./),
      ])
      expect(code).toBe(1)
    },
  )
})

describe("npm run leave", () => {
  inAll("removes the slots of every server, and names one that is down", async () => {
    const app = await startTideline(settings())
    for (const node of set.nodes) await expect.poll(() => anchorsOf(node), { timeout: 30_000 }).toBe(1)
    await app.stop()
    const [standby] = set.standbys
    await standby!.stop()
    const first = await runBuiltCommand("leave", [], { folder, env: settings() })
    expect(first.code).toBe(1)
    expect(first.output).toContain(`The slot on 127.0.0.1:${standby!.port} could not be removed`)
    await standby!.start()
    const second = await runBuiltCommand("leave", [], { folder, env: settings() })
    expect(second.output).toContain(`The slot on 127.0.0.1:${standby!.port} is removed.`)
    expect(second.code).toBe(0)
    for (const node of set.nodes) expect(await anchorsOf(node)).toBe(0)
  })
})

async function on<Result>(node: ReplicaNode, work: (sql: postgres.Sql) => Promise<Result>): Promise<Result> {
  const sql = postgres(node.url, { max: 1, onnotice: () => {} })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

const anchorsOf = (node: ReplicaNode) =>
  on(node, async (sql) => {
    const slots = await sql`
      select 1 from pg_replication_slots where slot_name like 'tideline\\_%' and not temporary`
    return slots.length
  })

/** Whether a standby streams through this slot of the primary. */
const isRead = (slot: string) =>
  on(set.primary, async (sql) => {
    const [found] = await sql`select active from pg_replication_slots where slot_name = ${slot}`
    return found?.["active"]
  })

async function canConnect(url: string): Promise<boolean> {
  const sql = postgres(url, { max: 1 })
  try {
    await sql`select 1`
    return true
  } catch {
    return false
  } finally {
    await sql.end()
  }
}

interface Found {
  code: number
  /** What keeps Tideline from working, whatever it is about. */
  problems: string[]
  /** About followed servers, each as its state and text. */
  findings: string[]
}

async function runDoctor(changes: Record<string, string> = {}): Promise<Found> {
  const env = { DATA_DIR: join(folder, "data"), ...settings(), ...changes }
  const { code, output } = await runBuiltCommand("doctor", [], { folder, env })
  const lines = [...output.matchAll(/^(ok|warning|problem) +Followed +(.*)$/gm)]
  return {
    code,
    problems: output.split("\n").filter((line) => line.startsWith("problem")),
    findings: lines.map(([, state, text]) => `${state} ${text}`),
  }
}
