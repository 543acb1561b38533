import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import type postgres from "postgres"
import { DATABASE, flag, SETTINGS } from "./postgres.ts"
import { withClient } from "#db/with-client.ts"
import { findAccount, ownEverything, run } from "./account.ts"
import { cloneCluster } from "./base-backup.ts"
import type { Binaries } from "./binaries.ts"
import { childrenOf } from "./processes.ts"
import { end, startAndWait, type Server } from "./supervise.ts"

/** One server of a replica set. It keeps its name, port and folder through all that happens to it. */
export interface ReplicaNode {
  readonly name: string
  readonly port: number
  /** Of the application's database, as the role postgres. */
  readonly url: string
  /** The postmaster's; 0 while it does not run. */
  readonly pid: number
  /** Whether its postmaster runs, which a paused one does. */
  readonly isRunning: boolean
  readonly isPaused: boolean
  /** Starts it on the data it has. Resolves when it accepts connections. */
  start(): Promise<void>
  /** Fast shutdown. */
  stop(): Promise<void>
  /** The machine loses its power: SIGKILL to the postmaster and all its processes at once. */
  kill(): Promise<void>
  /**
   * The machine hangs: SIGSTOP to all its processes. Connections stay open and new ones are taken
   * by the kernel, and nothing answers.
   */
  pause(): void
  resume(): void
  /** Makes a standby a primary. Resolves when it accepts writes. */
  promote(): Promise<void>
  isPrimary(): Promise<boolean>
  /**
   * Follows another node from now on, running or not; the node must already be a standby of the
   * same history. Creates its slot there.
   */
  follow(primary: ReplicaNode): Promise<void>
  /** Throws its data away, copies the primary's and starts as its standby, which streams then. */
  rejoin(primary: ReplicaNode): Promise<void>
  /** Resolves when the standby receives the log of the node that it follows. */
  whenStreaming(): Promise<void>
  /** What is received is no longer replayed, so that readers see an ever older state. */
  pauseReplay(): Promise<void>
  resumeReplay(): Promise<void>
  /** Replays each commit this long after it happened. Milliseconds; 0 is at once. */
  delayReplay(ms: number): Promise<void>
  /**
   * Changes settings, such as `synchronous_standby_names` or `max_slot_wal_keep_size`; null is the
   * default of the set. Resolves when a running server has read them. Some need a restart.
   */
  set(settings: Record<string, string | null>): Promise<void>
}

interface Options {
  name: string
  directory: string
  port: number
  password: string
  binaries: Binaries
  /** Of all nodes. Can be changed by `set`. */
  settings: Record<string, string>
  onLog: (line: string) => void
}

/** A node that does not run yet. Its folder has a cluster in `data`, or will get one by `rejoin`. */
export function createNode({ name, directory, port, password, binaries, onLog, ...options }: Options) {
  const cluster = join(directory, "data")
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/${DATABASE}`
  const ask = <Result>(work: (sql: postgres.Sql) => Promise<Result>) => withClient(url, work)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const account = findAccount(directory, binaries.directory)
  const settings = new Map(Object.entries(options.settings))
  let server: Server | null = null
  let isPaused = false

  const node: ReplicaNode = {
    name,
    port,
    url,
    get pid() {
      return isRunning() ? (server?.pid ?? 0) : 0
    },
    get isRunning() {
      return isRunning()
    },
    get isPaused() {
      return isRunning() && isPaused
    },
    async start() {
      if (isRunning()) return
      writeSettings()
      const flags = Object.entries({ ...FIXED, port: String(port), cluster_name: name }).flatMap(flag)
      rmSync(join(cluster, "postmaster.pid"), { force: true }) // of a killed server
      server = await startAndWait(
        () => run(binaries.postgres, ["-D", cluster, ...flags], { account, cwd: directory }),
        onLog,
      )
      process.once("exit", interrupt)
    },
    async stop() {
      if (!server) return
      node.resume()
      await end(server)
      ended()
    },
    async kill() {
      if (!server || !isRunning()) return
      const gone = new Promise((resolve) => server?.once("exit", resolve))
      // Stopped first, so that it starts no other while they are listed.
      server.kill("SIGSTOP")
      signalChildren("SIGKILL")
      server.kill("SIGKILL")
      await gone
      ended()
    },
    pause() {
      isPaused = true
      server?.kill("SIGSTOP")
      signalChildren("SIGSTOP")
    },
    resume() {
      isPaused = false
      signalChildren("SIGCONT")
      server?.kill("SIGCONT")
    },
    promote: () =>
      ask(async (sql) => {
        const [row] = await sql`select pg_promote(true, 60) as promoted`
        if (!row?.["promoted"]) throw new Error(`${name} could not be promoted within 60 s.`)
      }),
    isPrimary: () =>
      ask(async (sql) => {
        const [row] = await sql`select not pg_is_in_recovery() as "isPrimary"`
        return row?.["isPrimary"] === true
      }),
    async follow(primary) {
      await createSlot(primary)
      await node.set(following(primary))
    },
    async rejoin(primary) {
      await node.stop()
      rmSync(cluster, { recursive: true, force: true })
      await createSlot(primary)
      await cloneCluster(primary.url, cluster)
      writeFileSync(join(cluster, "standby.signal"), "", { mode: 0o600 })
      for (const [setting, value] of Object.entries(following(primary))) settings.set(setting, value)
      if (account) ownEverything(cluster, account)
      await node.start()
      await node.whenStreaming()
    },
    whenStreaming: () =>
      ask((sql) =>
        until(`${name} streams`, async () => {
          const [row] = await sql`select 1 from pg_stat_wal_receiver where status = 'streaming'`
          return row !== undefined
        }),
      ),
    pauseReplay: () =>
      ask(async (sql) => {
        await sql`select pg_wal_replay_pause()`
        await until(`${name} has paused`, async () => {
          const [row] = await sql`select pg_get_wal_replay_pause_state() as state`
          return row?.["state"] === "paused"
        })
      }),
    resumeReplay: () => ask(async (sql) => void (await sql`select pg_wal_replay_resume()`)),
    delayReplay: (ms) => node.set({ recovery_min_apply_delay: ms === 0 ? null : `${ms}ms` }),
    async set(changed) {
      for (const [setting, value] of Object.entries(changed)) {
        const then = value ?? options.settings[setting]
        if (then === undefined) settings.delete(setting)
        else settings.set(setting, then)
      }
      writeSettings()
      if (!isRunning()) return
      await ask(async (sql) => {
        const [before] = await sql`select pg_conf_load_time()::text as at, pg_reload_conf()`
        await until(`${name} has read its settings`, async () => {
          const [now] = await sql`select pg_conf_load_time()::text as at`
          return now?.["at"] !== before?.["at"]
        })
      })
    },
  }
  return node

  function isRunning() {
    return server !== null && server.exitCode === null && server.signalCode === null
  }

  function interrupt() {
    node.resume()
    server?.kill("SIGINT")
  }

  function ended() {
    process.off("exit", interrupt)
    server = null
    isPaused = false
  }

  function signalChildren(signal: NodeJS.Signals) {
    if (!server?.pid || !isRunning()) return
    for (const pid of childrenOf(server.pid)) {
      try {
        process.kill(pid, signal)
      } catch {} // it has ended in the meantime
    }
  }

  function writeSettings() {
    const file = join(cluster, "postgresql.auto.conf")
    const lines = [...settings].map(([setting, value]) => `${setting} = '${value.replaceAll("'", "''")}'\n`)
    if (existsSync(file) && readFileSync(file, "utf8") === lines.join("")) return
    writeFileSync(file, lines.join(""), { mode: 0o600 })
    if (account) ownEverything(file, account)
  }

  /** The slot keeps the log on the primary that this node has not received yet. */
  async function createSlot(primary: ReplicaNode) {
    await withClient(
      primary.url,
      (sql) => sql`
        select pg_create_physical_replication_slot(${slotOf(name)}, true)
        where not exists (select from pg_replication_slots where slot_name = ${slotOf(name)})`,
    )
  }

  function following(primary: ReplicaNode) {
    return {
      primary_conninfo: `host=127.0.0.1 port=${primary.port} user=postgres password=${password} dbname=${DATABASE} application_name=${name}`,
      primary_slot_name: slotOf(name),
    }
  }
}

/** The name of a node's physical slot on its primary. */
export function slotOf(name: string): string {
  return `node_${name}`
}

/** On the command line, where nothing that is copied from another node overrides them. */
const FIXED = {
  listen_addresses: SETTINGS.listen_addresses,
  unix_socket_directories: SETTINGS.unix_socket_directories,
}

const TIMEOUT = 60_000

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + TIMEOUT
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`Waited ${TIMEOUT} ms until ${what}.`)
    await delay(20)
  }
}
