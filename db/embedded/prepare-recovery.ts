import { existsSync } from "node:fs"
import { appendFile, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { unpackCluster, type BaseBackup } from "./base-backup.ts"
import { recoveringFrom, segmentsIn } from "./wal-archive.ts"

// A recovery that another PostgreSQL carries out, in a container of its own: its folder is prepared,
// and when it starts it recovers to the moment and continues from there.

export interface PreparedRecovery {
  /** The base backup, and its folder. */
  base: Pick<BaseBackup, "folders" | "files"> & { folder: string }
  /** The folder of the WAL that continues it, as that PostgreSQL sees it as well. */
  archive: string
  /** The last moment whose commits are wanted, in milliseconds; everything if null. */
  until: number | null
  /** The folder of the cluster. */
  cluster: string
}

/**
 * Prepares the folder. A cluster that is there is moved aside, and its new path is returned; null if
 * there was none. Throws an error that says what to do if it seems to be running, or the archive
 * ends before the moment.
 */
export async function prepareRecovery(recovery: PreparedRecovery): Promise<string | null> {
  const { base, archive, until, cluster } = recovery
  if (existsSync(join(cluster, "postmaster.pid")))
    throw new Error(
      `${cluster} has a postmaster.pid: PostgreSQL is running. Stop it. If it was killed, remove that file. Nothing was changed.`,
    )
  await refuseLaterMoment(archive, until)
  const unfinished = `${cluster}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await unpackCluster(base.folder, base, unfinished)
  const settings = {
    ...recoveringFrom(archive),
    ...(until !== null && {
      recovery_target_time: new Date(until).toISOString().replace("T", " ").replace("Z", "+00"),
    }),
    recovery_target_timeline: "current",
    recovery_target_action: "promote",
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`)
  await appendFile(join(unfinished, AUTO), `${[BEGIN, ...lines, END].join("\n")}\n`)
  await writeFile(join(unfinished, "recovery.signal"), "", { mode: 0o600 })
  await writeFile(join(unfinished, MARK), "", { mode: 0o600 })
  const aside = existsSync(cluster)
    ? `${cluster}.before-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`
    : null
  if (aside !== null) await rename(cluster, aside)
  await rename(unfinished, cluster)
  return aside
}

/** Whether the cluster was prepared, and what follows its recovery has not been done. */
export function isPrepared(cluster: string): boolean {
  return existsSync(join(cluster, MARK))
}

/** Removes what only the recovery needed. */
export async function forgetRecovery(cluster: string): Promise<void> {
  const path = join(cluster, AUTO)
  const text = await readFile(path, "utf8")
  const [before = "", rest = ""] = text.split(`${BEGIN}\n`)
  await writeFile(path, before + (rest.split(`${END}\n`)[1] ?? ""))
  await rm(join(cluster, MARK))
}

const AUTO = "postgresql.auto.conf"
const MARK = "tideline-recovery"
const BEGIN = "# Begin of the recovery's settings"
const END = "# End of the recovery's settings"

/** PostgreSQL would refuse to start, again and again. */
async function refuseLaterMoment(archive: string, until: number | null) {
  if (until === null) return
  const folder = segmentsIn(archive)
  const times = await Promise.all(
    (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).mtimeMs),
  )
  const end = Math.max(0, ...times)
  if (until <= end) return
  throw new Error(
    `The history ends at ${new Date(end).toISOString()}. Restore all of it with --to latest. Nothing was changed.`,
  )
}
