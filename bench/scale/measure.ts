import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import postgres from "postgres"
import { startReplicaSet, type ReplicaSet } from "#db/embedded/replica-set.ts"
import type { ReplicaNode } from "#db/embedded/replica-node.ts"
import { openReplication, type ReplicationConnection } from "../../live/server/replication.ts"
import { cpuOf } from "../http/processes.ts"
import { printTable, rounded, show } from "../print.ts"
import { describeMachine } from "../results.ts"
import { percentile } from "../statistics.ts"

/**
 * Where the readers are: at the primary, at two standbys, or at the primary with one of 16 parts
 * each, which are publications filtered by the hash of the rows' owner.
 */
const PLACES = ["primary", "standbys", "parts"] as const
type Place = (typeof PLACES)[number]

const READERS = [1, 4, 16, 32]
const PARTS = 16

/**
 * Commits per second that the writers try, their number, and seconds of each measurement. BENCH_RATE
 * is for machines that 3,000 fill.
 */
const RATE = Number(process.env["BENCH_RATE"] ?? 3000)
const WRITERS = 4
const SECONDS = 8
const SHORT_SECONDS = 3

interface Figures {
  place: Place
  readers: number
  /** Commits per second. */
  reached: number
  /** CPU time in ms of all the primary's processes for 1,000 commits, and of both standbys. */
  primary: number
  standbys: number
  /** Milliseconds from the write of a row to its arrival at the first reader. */
  p50: number
  p99: number
}

/**
 * Measures what readers of the log cost the primary. Everything runs on this machine, so that
 * commits reached and latencies depend on its cores, and CPU times hardly do. Linux only.
 */
export async function measureScale({ short }: { short: boolean }): Promise<object> {
  const machine = describeMachine()
  const folder = mkdtempSync(join(tmpdir(), "tideline-bench-"))
  const set = await startReplicaSet({ directory: folder, standbys: 2, settings: SETTINGS })
  const measured: Figures[] = []
  try {
    await prepare(set)
    for (const place of PLACES)
      for (const readers of READERS) {
        measured.push(await measureOne(set, place, readers, short ? SHORT_SECONDS : SECONDS))
        process.stderr.write(`${JSON.stringify(measured.at(-1), rounded)}\n`)
      }
  } finally {
    await set.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  report(measured)
  return { machine, rate: RATE, measured }
}

const SETTINGS = {
  max_connections: "200",
  max_replication_slots: "60",
  max_wal_senders: "60",
  // The disk of this machine is not what is measured. Commits are still handed to the walsenders at
  // once, which synchronous_commit = off would leave to the WAL writer's next round.
  fsync: "off",
}

async function prepare(set: ReplicaSet): Promise<void> {
  await on(set.primary, async (sql) => {
    await sql.unsafe(`
      create table n (_id uuid default uuidv7(), user_id uuid not null, body text not null, primary key (user_id, _id));
      create publication everything for table n;
      create procedure write(per_second int, seconds int) language plpgsql as $$
        declare begun timestamptz := clock_timestamp(); done int := 0;
        begin
          while clock_timestamp() < begun + make_interval(secs => seconds) loop
            insert into n (user_id, body) values (
              md5((done % 1000)::text)::uuid,
              repeat('x', 180) || ' ' || (extract(epoch from clock_timestamp()) * 1000)::bigint || ' ');
            commit;
            done := done + 1;
            perform pg_sleep(greatest(0, extract(epoch from begun + make_interval(secs => done::float8 / per_second) - clock_timestamp())));
          end loop;
        end $$`)
    for (let part = 0; part < PARTS; part++)
      await sql.unsafe(
        `create publication part_${part} for table n where ((uuid_hash(user_id) & ${PARTS - 1}) = ${part})`,
      )
  })
  for (const standby of set.standbys) await makeAnchor(set.primary, standby)
}

/** A slot can only be made on a standby when the primary logs which transactions run. */
async function makeAnchor(primary: ReplicaNode, standby: ReplicaNode): Promise<void> {
  let isMade = false
  const making = on(
    standby,
    (sql) => sql`select pg_create_logical_replication_slot('anchor', 'pgoutput')`,
  ).finally(() => (isMade = true))
  await on(primary, async (sql) => {
    while (!isMade) {
      await sql`select pg_log_standby_snapshot()`
      await pause(100)
    }
  })
  await making
}

/** Without it, the copies of the slot would first read everything that was measured before. */
async function advanceAnchor(primary: ReplicaNode, standby: ReplicaNode): Promise<void> {
  const [end] = await on(
    primary,
    (sql) => sql<[{ lsn: string }]>`
    select pg_log_standby_snapshot() as lsn`,
  )
  await on(standby, async (sql) => {
    while ((await sql`select 1 where pg_last_wal_replay_lsn() < ${end.lsn}::pg_lsn`).length > 0)
      await pause(20)
    await sql`select pg_replication_slot_advance('anchor', ${end.lsn})`
  })
}

async function measureOne(set: ReplicaSet, place: Place, readers: number, seconds: number): Promise<Figures> {
  const latencies: number[] = []
  const open: ReplicationConnection[] = []
  const writers = postgres(set.primary.url, { max: WRITERS, onnotice() {} })
  try {
    for (const standby of set.standbys) await advanceAnchor(set.primary, standby)
    for (let at = 0; at < readers; at++)
      open.push(await openReader(set, place, at, at === 0 ? latencies : null))
    const nodes = [set.primary, ...set.standbys]
    const before = nodes.map(({ pid }) => cpuOf(pid))
    const begun = performance.now()
    await Promise.all(
      Array.from({ length: WRITERS }, () =>
        writers.unsafe(`call write(${RATE / WRITERS}, ${seconds})`).simple(),
      ),
    )
    const elapsed = (performance.now() - begun) / 1000
    for (const node of nodes) await whenSent(node)
    const [primary = 0, ...standbys] = nodes.map(({ pid }, at) => cpuOf(pid) - before[at]!)
    const [row] = await writers<[{ commits: number }]>`select count(*)::int as commits from n`
    return {
      place,
      readers,
      reached: row.commits / elapsed,
      primary: (primary * 1000) / row.commits,
      standbys: (standbys.reduce((sum, each) => sum + each, 0) * 1000) / row.commits,
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
    }
  } finally {
    for (const each of open) await each.end()
    await writers`truncate n`
    await writers.end()
  }
}

/** Resolves when all who stream from the node have been sent what it has, after 30 s at the latest. */
async function whenSent(node: ReplicaNode): Promise<void> {
  await on(node, async (sql) => {
    for (let waited = 0; waited < 300; waited++) {
      const late = await sql`
        select 1 from pg_stat_replication where sent_lsn <
          case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end`
      if (late.length === 0) return
      await pause(100)
    }
  })
}

async function openReader(
  set: ReplicaSet,
  place: Place,
  at: number,
  latencies: number[] | null,
): Promise<ReplicationConnection> {
  const node = place === "standbys" ? set.standbys[at % set.standbys.length]! : set.primary
  const connection = openReplication(node.url, `reader ${at}`)
  const slot = `reader_${at}_${Date.now()}`
  await connection.sql
    .unsafe(
      place === "standbys"
        ? `select pg_copy_logical_replication_slot('anchor', '${slot}', true)`
        : `select pg_create_logical_replication_slot('${slot}', 'pgoutput', true)`,
    )
    .simple()
  const publication = place === "parts" ? `part_${at % PARTS}` : "everything"
  const stream = await connection.start(slot, publication, 0n, {
    message(bytes) {
      if (!latencies || bytes[0] !== INSERT) return
      const written = / (\d{13}) /.exec(bytes.toString("latin1"))?.[1]
      if (written) latencies.push(performance.timeOrigin + performance.now() - Number(written))
    },
    keepalive() {},
  })
  void stream.closed.catch(() => {})
  return connection
}

/** The first byte of pgoutput's message about a new row. */
const INSERT = 0x49

async function on<Result>(node: ReplicaNode, work: (sql: postgres.Sql) => Promise<Result>): Promise<Result> {
  const sql = postgres(node.url, { max: 1, onnotice() {} })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

function report(measured: readonly Figures[]): void {
  printTable(
    [
      "readers",
      "commits/s",
      "CPU of the primary, ms per 1,000 commits",
      "of the standbys",
      "to the first reader, ms (p50 / p99)",
    ],
    measured.map(({ place, readers, reached, primary, standbys, p50, p99 }) => [
      `${readers}, ${place}`,
      show(reached),
      show(primary),
      show(standbys),
      `${show(p50)} / ${show(p99)}`,
    ]),
  )
}
