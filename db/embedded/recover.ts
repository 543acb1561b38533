import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { rename } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import postgres from "postgres"
import { UNSEEN } from "#live/check"
import { findPassword, flag, SETTINGS, startEmbeddedPostgres } from "./postgres.ts"
import { findAccount, ownEverything, run, type Account } from "./account.ts"
import { unpackCluster, type BaseBackup } from "./base-backup.ts"
import { findBinaries } from "./binaries.ts"
import { stopOrphan } from "./orphan.ts"
import { supervise } from "./supervise.ts"
import { archivingInto, recoveringFrom } from "./wal-archive.ts"

export interface Recovery {
  /** The base backup, and its folder. */
  base: Pick<BaseBackup, "folders" | "files"> & { folder: string }
  /** The folder of the WAL that continues it. */
  archive: string
  /** The last moment whose commits are wanted, in milliseconds; everything if null. */
  until: number | null
  /** The folder of the embedded PostgreSQL, which must not exist yet. */
  directory: string
  /** Whether the archive continues with what is recovered; otherwise it is only read. */
  continuesArchive: boolean
}

export interface Recovered<Result> {
  /** When the last recovered transaction was committed. Milliseconds; null if there was none. */
  lastCommit: number | null
  /** False if the archive ended before the wanted moment. */
  isReached: boolean
  result: Result
}

/**
 * Recovers a cluster to a moment, and calls `work` with its URL. Only after that the folder has its
 * name: a recovery that fails or is killed leaves no installation behind.
 */
export async function recoverCluster<Result>(
  recovery: Recovery,
  work: (url: string) => Promise<Result>,
): Promise<Recovered<Result>> {
  const directory = resolve(recovery.directory)
  const unfinished = `${directory}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true, mode: 0o700 })
  try {
    const replayed = await replay(recovery, unfinished)
    const server = await startEmbeddedPostgres({ directory: unfinished })
    let result: Result
    try {
      result = await work(server.url)
    } finally {
      await server.stop()
    }
    await rename(unfinished, directory)
    return { ...replayed, result }
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    throw error
  }
}

async function replay({ base, archive, until, continuesArchive }: Recovery, directory: string) {
  const binaries = await findBinaries()
  const cluster = join(directory, "data")
  const password = findPassword(directory)
  const replayUntil = async (moment: number | null) => {
    rmSync(cluster, { recursive: true, force: true })
    await unpackCluster(base.folder, base, cluster)
    writeFileSync(join(cluster, "recovery.signal"), "", { mode: 0o600 })
    const account = findAccount(directory, binaries.directory, archive)
    if (account) ownEverything(directory, account)
    const target: Record<string, string> = moment === null ? {} : { recovery_target_time: timestamp(moment) }
    const archiving = continuesArchive ? archivingInto(archive) : {}
    const settings = { ...archiving, ...recoveringFrom(archive), ...target }
    return replayIn({ directory, program: binaries.postgres, account, settings }, password)
  }
  try {
    return { lastCommit: await replayUntil(until), isReached: true }
  } catch (error) {
    if (until === null || !(error instanceof Error) || !error.message.includes(ENDED_BEFORE)) throw error
    return { lastCommit: await replayUntil(null), isReached: false }
  }
}

/** With a numeric offset: the setting does not accept a Z. */
function timestamp(moment: number): string {
  return new Date(moment).toISOString().replace("T", " ").replace("Z", "+00")
}

/** What PostgreSQL logs if the archive has nothing after the target. */
const ENDED_BEFORE = "recovery ended before configured recovery target was reached"

interface Replay {
  directory: string
  program: string
  account: Account | null
  settings: Record<string, string>
}

/** Resolves when the cluster has been stopped again, with this password. */
async function replayIn({ directory, program, account, settings }: Replay, password: string) {
  const cluster = join(directory, "data")
  // The password of the copied cluster is not known. The folder is its owner's alone, and its path
  // is short enough for a socket.
  const socket = mkdtempSync(join(tmpdir(), "tideline-"))
  const trust = join(directory, "trust.conf")
  writeFileSync(trust, "local all all trust\n")
  if (account) for (const path of [socket, trust]) ownEverything(path, account)
  const flags = Object.entries({
    ...SETTINGS,
    ...settings,
    listen_addresses: "",
    unix_socket_directories: socket,
    hba_file: trust,
    // Until it has recovered nobody may connect, so that it needs no settings of the original.
    hot_standby: "off",
    recovery_target_timeline: "current",
    recovery_target_action: "promote",
  }).flatMap(flag)
  try {
    const server = await supervise({
      start: () => run(program, ["-D", cluster, ...flags], { account, cwd: directory }),
      beforeRestart: () => stopOrphan(cluster),
      onLog: () => {},
    })
    try {
      return await settle(socket, password)
    } finally {
      await server.stop()
    }
  } finally {
    rmSync(socket, { recursive: true, force: true })
    rmSync(trust)
  }
}

async function settle(socket: string, password: string): Promise<number | null> {
  const sql = postgres({
    ...UNSEEN,
    path: join(socket, ".s.PGSQL.5432"),
    user: "postgres",
    database: "postgres",
    max: 1,
    onnotice: () => {},
  })
  try {
    // It is hexadecimal.
    await sql.unsafe(`alter role postgres password '${password}'`)
    const [last] = await sql<[{ at: Date | null }]>`select pg_last_xact_replay_timestamp() as at`
    return last.at?.getTime() ?? null
  } finally {
    await sql.end()
  }
}
