import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { rename } from "node:fs/promises"
import { createServer } from "node:net"
import { join, resolve } from "node:path"
import { withClient } from "#db/with-client.ts"
import { findAccount, ownEverything, run, type Account } from "./account.ts"
import { findBinaries, type Binaries } from "./binaries.ts"
import { claimDirectory, readClaim } from "./claim.ts"
import { stopOrphan } from "./orphan.ts"
import { supervise } from "./supervise.ts"
import { mayKeepHistory } from "#db/installation.ts"
import { archiveOf, archivingInto, createArchive } from "./wal-archive.ts"

export interface EmbeddedPostgres {
  url: string
  /** The postmaster's process id, which changes when it dies and is restarted. */
  readonly pid: number
  /** Fast shutdown: open transactions are rolled back, and nothing committed is lost. */
  stop(): Promise<void>
}

interface Options {
  /**
   * Everything is stored here: the cluster, its password, and the claim of the process that runs
   * it.
   */
  directory: string
  /** A folder that gets the WAL of this cluster, in a folder of its own, unless it is another's. */
  history?: string | undefined
  /** Server settings, which override those below. */
  settings?: Record<string, string>
  /** Called with every line that PostgreSQL logs. */
  onLog?: (line: string) => void
  /** Called when it ended unexpectedly, or could not be started again, with the reason. */
  onEnd?: (reason: string) => void
  /** Called when it runs again. */
  onReturn?: () => void
}

export const DATABASE = "tideline"

/**
 * Settings that the change stream needs, and one that keeps a forgotten slot from filling the disk.
 */
export const SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  wal_level: "logical",
  max_replication_slots: "40",
  max_wal_senders: "40",
  max_slot_wal_keep_size: "4GB",
  timezone: "UTC",
  log_timezone: "UTC",
  lc_messages: "C",
  cluster_name: "tideline",
}

/**
 * Runs a PostgreSQL server of our own on 127.0.0.1, initialised on first use, and restarts it when
 * it dies. Works as root too, which PostgreSQL itself refuses: the server then runs under another
 * account. Throws if another living process runs the same directory.
 */
export async function startEmbeddedPostgres(options: Options): Promise<EmbeddedPostgres> {
  const directory = resolve(options.directory)
  const cluster = join(directory, "data")
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  if (options.history !== undefined) mkdirSync(options.history, { recursive: true, mode: 0o700 })
  const claim = claimDirectory(directory)
  try {
    const binaries = await findBinaries()
    const account = findAccount(directory, binaries.directory, options.history)
    await stopOrphan(cluster)
    const password = findPassword(directory)
    const sync = options.settings?.["fsync"] !== "off"
    await initialise(directory, binaries, account, { sync })
    const settings: Record<string, string> = {
      ...SETTINGS,
      ...archiving(options, account),
      ...options.settings,
    }
    const port = await findFreePort()
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/${DATABASE}`
    const flags = ["-D", cluster, ...Object.entries({ ...settings, port: String(port) }).flatMap(flag)]
    const server = await supervise({
      start: () => run(binaries.postgres, flags, { account, cwd: directory }),
      beforeRestart: () => stopOrphan(cluster),
      onLog: options.onLog ?? (() => {}),
      onEnd: options.onEnd,
      onReturn: options.onReturn,
    })
    await createDatabase(url)
    claim.announce(url)
    return {
      url,
      get pid() {
        return server.pid
      },
      async stop() {
        await server.stop()
        claim.release()
      },
    }
  } catch (error) {
    claim.release()
    throw error
  }
}

/**
 * The URL of the server that a living process runs in `directory`, for commands that work beside
 * it; or null.
 */
export function findRunningPostgres(directory: string): string | null {
  return readClaim(resolve(directory))?.url ?? null
}

function archiving({ directory, history }: Options, account: Account | null) {
  if (history === undefined || !mayKeepHistory(history, directory)) return {}
  const archive = archiveOf(history, join(directory, "data"))
  createArchive(archive, account)
  return archivingInto(archive)
}

export function flag([name, value]: [string, string]) {
  return ["-c", `${name}=${value}`]
}

/** The password of the role `postgres`, which is chosen at the first call. */
export function findPassword(directory: string) {
  const file = join(directory, "password")
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString("hex"), { mode: 0o600 })
  return readFileSync(file, "utf8").trim()
}

/**
 * Makes the cluster `data` in the folder unless there is one. Into a separate folder first, so that
 * an interrupted start leaves no incomplete cluster behind.
 */
export async function initialise(
  directory: string,
  binaries: Binaries,
  account: Account | null,
  { sync }: { sync: boolean },
) {
  const cluster = join(directory, "data")
  if (existsSync(join(cluster, "PG_VERSION"))) {
    const version = readFileSync(join(cluster, "PG_VERSION"), "utf8").trim()
    if (version === binaries.major) return
    throw new Error(
      `The database in ${cluster} was made by PostgreSQL ${version}, and this is PostgreSQL ${binaries.major}. ` +
        "Start the Tideline that made it, export the data, and import it here.",
    )
  }
  const unfinished = join(directory, "data.new")
  rmSync(unfinished, { recursive: true, force: true })
  if (account) ownEverything(directory, account)
  const flags = ["--username=postgres", `--pwfile=${join(directory, "password")}`, "--auth=scram-sha-256"]
  const locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
  const durability = sync ? [] : ["--no-sync"]
  const initdb = run(binaries.initdb, ["-D", unfinished, ...flags, ...locale, ...durability], {
    account,
    cwd: directory,
  })
  let output = ""
  initdb.stdout.on("data", (text) => (output += text))
  initdb.stderr.on("data", (text) => (output += text))
  const [code] = await once(initdb, "close")
  if (code !== 0) throw new Error(`PostgreSQL could not be initialised in ${directory}:\n${output.trim()}`)
  await rename(unfinished, cluster)
}

export async function findFreePort() {
  const probe = createServer().listen(0, "127.0.0.1")
  await once(probe, "listening")
  const address = probe.address()
  probe.close()
  await once(probe, "close")
  if (address === null || typeof address === "string") throw new Error("No free port was found on 127.0.0.1.")
  return address.port
}

/** Creates the application's database, which `url` names, unless there is one. */
export async function createDatabase(url: string) {
  const maintenance = new URL(url)
  maintenance.pathname = "/postgres"
  return withClient(maintenance.href, async (sql) => {
    const [existing] = await sql`select 1 from pg_database where datname = ${DATABASE}`
    if (!existing) await sql`create database ${sql(DATABASE)}`
  })
}
