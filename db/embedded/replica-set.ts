import { mkdirSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { createDatabase, DATABASE, findFreePort, findPassword, initialise, SETTINGS } from "./postgres.ts"
import { findAccount } from "./account.ts"
import { findBinaries } from "./binaries.ts"
import { createNode, type ReplicaNode } from "./replica-node.ts"

/** A primary and its standbys on this machine. */
export interface ReplicaSet {
  /** In the order of their names: a, b, c … The first one is the first primary. */
  readonly nodes: readonly ReplicaNode[]
  /** The node that was last made the primary, dead or alive. */
  readonly primary: ReplicaNode
  readonly standbys: readonly ReplicaNode[]
  /** All nodes in one URL, which leads to the one that accepts writes. */
  readonly url: string
  /**
   * Promotes a standby, and has the others that run follow it. It does nothing to the old primary:
   * `kill` or `pause` that one first, or there are two.
   */
  failOver(to: ReplicaNode): Promise<void>
  /** Has a node, such as the old primary, start over as a standby with a copy of the primary's data. */
  rejoin(node: ReplicaNode): Promise<void>
  stop(): Promise<void>
}

interface Options {
  /** Each node gets a folder in it. */
  directory: string
  standbys: number
  /** Free ports if omitted. */
  ports?: readonly number[]
  /** Of all nodes. */
  settings?: Record<string, string>
  /** Every line that PostgreSQL logs. */
  onLog?: (node: string, line: string) => void
}

/**
 * Starts a new PostgreSQL with standbys that stream from it (https://www.postgresql.org/docs/current/warm-standby.html),
 * from the embedded binaries and in a folder that has none yet. Unlike `startEmbeddedPostgres` it
 * restarts nothing: a node that dies is dead until somebody decides what becomes of it. There is
 * no watchdog; `failOver` is what Patroni or an operator would do.
 */
export async function startReplicaSet({
  directory: folder,
  standbys,
  ports = [],
  settings = {},
  onLog = () => {},
}: Options): Promise<ReplicaSet> {
  const directory = resolve(folder)
  const binaries = await findBinaries()
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const password = findPassword(directory)
  const nodes: ReplicaNode[] = []
  for (const [at, name] of NAMES.slice(0, standbys + 1).entries())
    nodes.push(
      createNode({
        name,
        directory: join(directory, name),
        port: ports[at] ?? (await findFreePort()),
        password,
        binaries,
        settings: { ...REPLICATED, ...settings },
        onLog: (line) => onLog(name, line),
      }),
    )
  let primary = nodes[0]!
  const set: ReplicaSet = {
    nodes,
    get primary() {
      return primary
    },
    get standbys() {
      return nodes.filter((node) => node !== primary)
    },
    url: `postgres://postgres:${password}@${nodes.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${DATABASE}?target_session_attrs=read-write`,
    async failOver(to) {
      await to.promote()
      const old = primary
      primary = to
      for (const node of nodes)
        if (node !== to && node !== old && node.isRunning && !node.isPaused) await node.follow(to)
    },
    rejoin: (node) => node.rejoin(primary),
    async stop() {
      // Standbys first: a primary that stops waits until they have received everything.
      for (const node of set.standbys) await node.stop()
      await primary.stop()
    },
  }
  try {
    await initialisePrimary(join(directory, primary.name))
    // Until there are standbys, no commit can wait for them.
    await primary.set({ synchronous_standby_names: "" })
    await primary.start()
    await createDatabase(primary.url)
    await Promise.all(set.standbys.map((node) => node.rejoin(primary)))
    await primary.set({ synchronous_standby_names: null })
  } catch (error) {
    await set.stop()
    throw error
  }
  return set

  async function initialisePrimary(home: string) {
    writeFileSync(join(home, "password"), password, { mode: 0o600 })
    const account = findAccount(home, binaries.directory)
    await initialise(home, binaries, account, { sync: settings["fsync"] !== "off" })
  }
}

const NAMES = ["a", "b", "c", "d", "e", "f", "g", "h"]

/** Those are on the command line of each. */
const { cluster_name: _, listen_addresses: __, unix_socket_directories: ___, ...SHARED } = SETTINGS

/** In addition to what a single server has. */
const REPLICATED = {
  ...SHARED,
  // A standby's slots fail when the primary removes rows that they still need.
  hot_standby_feedback: "on",
  // Milliseconds. A standby notices sooner that there is a new primary.
  wal_retrieve_retry_interval: "200",
  // A standby of a standby that was promoted still finds the log from before.
  wal_keep_size: "128MB",
}
