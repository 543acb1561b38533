import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest"
import type { ReplicaNode } from "#db/embedded/replica-node.ts"
import { openPostgres } from "#live/check"
import type { Log } from "../../live/server/log.ts"
import { ALL } from "../support/all.ts"
import type { Followed, ReferenceClient } from "./support/client.ts"
import { seeded } from "./support/form.ts"
import { startReplicas, type Replicas } from "./support/replicas.ts"

/** ms from the kill to the first new commit, beyond which a round says what happened in it. */
const SLOW = 5000

const isLong = process.env["FAILOVER"] === "long"
const ROUNDS = Number(process.env["FAILOVER_ROUNDS"] ?? (isLong ? 1000 : ALL ? 10 : 2))
const MINUTES = Number(process.env["FAILOVER_MINUTES"] ?? (isLong ? 120 : ALL ? 5 : 1))
/** After so many rounds all rows are compared, and then deleted. */
const AT_ONCE = 25

let replicas: Replicas

beforeAll(async () => {
  // A commit that was acknowledged is on the primary and on one of the standbys.
  replicas = await startReplicas({
    synchronous_standby_names: "any 1 (a, b, c)",
    log_recovery_conflict_waits: "on",
  })
}, 120_000)
afterAll(() => replicas.stop())

/** Two writers, whose acknowledged ids are kept. What failed may have been committed or not. */
function startWriters() {
  const acknowledged = new Set<string>()
  const sql = openPostgres(replicas.databaseUrl, { max: 2, onnotice: () => {}, connect_timeout: 5 })
  let stopping = false
  let serial = 0
  const write = async () => {
    while (!stopping) {
      const id = `row ${String(++serial).padStart(8, "0")} ${Date.now()}`
      try {
        await sql`insert into messages (_id, thread_id, owner) values (${id}, 't', 'ada')`
        acknowledged.add(id)
      } catch {
        await sleep(5)
      }
      await sleep(2)
    }
  }
  const done = Promise.all([write(), write()])
  return {
    acknowledged,
    async stop() {
      stopping = true
      await done
      await sql.end({ timeout: 1 })
    },
  }
}

/** A client that keeps its subscription whatever happens, and remembers every id that it showed. */
class Witness {
  readonly shown = new Set<string>()
  readonly client: ReferenceClient
  list!: Followed
  #closed = false
  #seenAt = new Map<string, number>()

  constructor(client: ReferenceClient) {
    this.client = client
    client.keepEvents = false
    client.tamper = (event) => {
      if (event.event === "commit") for (const [, op, id] of event.changes) if (op === "put") this.#see(id)
      if (event.event === "snapshot")
        for (const part of event.subscriptions) {
          if (part.kind === "rows") for (const { _id } of part.rows) this.#see(_id)
          else for (const [, op, id] of part.changes) if (op === "put") this.#see(id)
        }
      return [event]
    }
  }

  async begin() {
    this.list = await this.client.follow("messages.inThread", { threadId: "t" })
    void this.#keep()
  }

  close() {
    this.#closed = true
    this.client.close()
  }

  /** When a row that was written after `since` was first seen; null if none has been. */
  firstSince(since: number): number | null {
    for (const [id, at] of this.#seenAt) if (Number(id.split(" ")[2]) > since) return at
    return null
  }

  forget() {
    this.#seenAt.clear()
  }

  #see(id: string) {
    this.shown.add(id)
    if (!this.#seenAt.has(id)) this.#seenAt.set(id, Date.now())
  }

  async #keep() {
    while (!this.#closed) {
      await sleep(20)
      if (this.#closed) return
      if (!this.client.connected) await this.client.resume().catch(() => {})
      else if (this.list.state === "reset" || (this.list.state === "waiting" && this.list.refusal))
        await this.client.renew().catch(() => {})
    }
  }
}

/** What the test, the engines and the servers did in a round, each line with the ms since its beginning. */
class RoundRecord {
  #begunAt = performance.now()
  #lines: string[] = []
  #logs: { name: string; lines: () => string[] }[] = []

  begin() {
    this.#begunAt = performance.now()
    this.#lines = []
    this.#logs = replicas.nodes.map((node) => ({ name: node.name, lines: replicas.linesOf(node) }))
  }

  note(line: string) {
    this.#lines.push(`${Math.round(performance.now() - this.#begunAt)} ms: ${line}`)
  }

  logOf(name: string): Log {
    const write = (details: object, message: string) =>
      this.note(`${name}: ${message} ${JSON.stringify(details)}`)
    return { info: write, warn: write, error: write }
  }

  tell(round: number): string {
    const logged = this.#logs.flatMap(({ name, lines }) => lines().map((line) => `${name}: ${line}`))
    return [`Round ${round} took long.`, ...this.#lines, ...logged, ""].join("\n")
  }
}

/** The standby that has most of the log, once it is certain that no more of it comes. */
async function mostAdvanced(): Promise<ReplicaNode> {
  const places = await Promise.all(
    replicas.standbys
      .filter((node) => node.isRunning && !node.isPaused)
      .map(async (node) => ({ node, lsn: await received(node) })),
  )
  places.sort((one, other) => (one.lsn > other.lsn ? -1 : 1))
  return places[0]!.node
}

async function received(node: ReplicaNode): Promise<bigint> {
  for (;;) {
    const [row] = await replicas.on(
      node,
      (sql) => sql`
        select (greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0')::text as lsn,
          exists (select 1 from pg_stat_wal_receiver where status = 'streaming') as streaming`,
    )
    if (row?.["streaming"] === false) return BigInt(String(row["lsn"]))
    await sleep(10)
  }
}

const median = (sorted: readonly number[]) => sorted[Math.floor(sorted.length / 2)] ?? 0

it(
  "random kills and promotions under load: every acknowledged commit is shown once, and none is taken back",
  async () => {
    const chance = seeded("failovers")
    const orders = [
      [0, 1, 2],
      [2, 0, 1],
    ]
    const witnesses: Witness[] = []
    const engines = []
    const record = new RoundRecord()
    for (const [at, order] of orders.entries()) {
      const followed = order.map((each) => replicas.nodes[each]!)
      const engine = await replicas.engine(followed, { confirmedBy: 2, log: record.logOf(`engine ${at}`) })
      engines.push(engine)
      const witness = new Witness(await replicas.client(engine))
      await witness.begin()
      onTestFinished(() => witness.close())
      witnesses.push(witness)
    }
    const gaps: number[] = []
    const total = { rounds: 0, standbyFaults: 0, rows: 0, acknowledged: 0 }
    const endsAt = Date.now() + MINUTES * 60_000
    while (total.rounds < ROUNDS && Date.now() < endsAt) {
      const writers = startWriters()
      onTestFinished(() => writers.stop())
      const until = Math.min(total.rounds + AT_ONCE, ROUNDS)
      for (; total.rounds < until && Date.now() < endsAt; total.rounds++) {
        for (const witness of witnesses) witness.forget()
        await sleep(chance.below(300))
        if (chance.chance(0.5)) {
          total.standbyFaults += 1
          await harmStandby(chance)
        }
        const old = replicas.primary
        record.begin()
        const killedAt = Date.now()
        await old.kill()
        record.note(`killed ${old.name}`)
        const next = await mostAdvanced()
        record.note(`${next.name} is the most advanced`)
        await replicas.failOver(next)
        record.note(`promoted ${next.name}`)
        for (const witness of witnesses) {
          await expect
            .poll(() => witness.firstSince(killedAt), {
              timeout: 60_000,
              interval: 5,
              message: "a new commit",
            })
            .not.toBeNull()
          gaps.push(witness.firstSince(killedAt)! - killedAt)
          record.note("a new commit is shown")
        }
        if (gaps.slice(-witnesses.length).some((gap) => gap > SLOW))
          process.stdout.write(record.tell(total.rounds))
        await replicas.rejoin(old)
      }
      await writers.stop()
      total.acknowledged += writers.acknowledged.size
      total.rows += await expectAllShown(writers.acknowledged, witnesses)
      gaps.sort((one, other) => one - other)
      process.stdout.write(
        `${total.rounds} failovers, ${total.standbyFaults} faults of standbys, ${total.rows} rows, ${total.acknowledged} acknowledged; ` +
          `SIGKILL to the first new commit at a subscriber: median ${median(gaps)} ms, worst ${gaps.at(-1)} ms\n`,
      )
      await forgetRows(witnesses)
    }
    for (const engine of engines) expect(engine.realtime.metrics()["stream_gaps"]).toBe(0)
  },
  (MINUTES + 5) * 60_000,
)

/** Kills or pauses one of the standbys, or its replay, for a moment. */
async function harmStandby(chance: ReturnType<typeof seeded>) {
  const victim = replicas.standbys[chance.below(2)]!
  const kind = chance.below(3)
  if (kind === 0) await victim.kill()
  else if (kind === 1) victim.pause()
  else await victim.pauseReplay()
  await sleep(chance.below(600))
  if (kind === 0) await victim.start()
  else if (kind === 1) victim.resume()
  else await victim.resumeReplay()
  await victim.whenStreaming()
}

/** Returns the number of rows that there are. */
async function expectAllShown(acknowledged: ReadonlySet<string>, witnesses: readonly Witness[]) {
  const rows = await replicas.on(replicas.primary, (sql) => sql<{ _id: string }[]>`select _id from messages`)
  const stored = new Set(rows.map(({ _id }) => _id))
  for (const { client, list } of witnesses)
    await client.until(() => list.rows.size === stored.size && list.state === "live", "all rows", 60_000)
  expect([...acknowledged].filter((id) => !stored.has(id))).toEqual([])
  for (const { client, list, shown } of witnesses) {
    expect([...shown].filter((id) => !stored.has(id))).toEqual([])
    expect([...list.rows.keys()].toSorted()).toEqual([...stored].toSorted())
    expect(client.violations).toEqual([])
    expect(client.seen).toMatchObject({ rows: 1, resets: 0 })
  }
  return stored.size
}

/** So that neither the copies of the servers nor the lists of the clients grow with the rounds. */
async function forgetRows(witnesses: readonly Witness[]) {
  await replicas.on(replicas.primary, (sql) => sql`delete from messages`)
  for (const { client, list, shown } of witnesses) {
    await client.until(() => list.rows.size === 0, "no rows", 60_000)
    shown.clear()
  }
}
