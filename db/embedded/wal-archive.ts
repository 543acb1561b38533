import { chownSync, existsSync, mkdirSync, readFileSync } from "node:fs"
import { readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { ownEverything, type Account } from "./account.ts"

// PostgreSQL hands every finished segment of its WAL to a shell command, and asks another for them
// in a recovery. https://www.postgresql.org/docs/current/continuous-archiving.html

/** The folder of an archive that has the segments. */
export function segmentsIn(archive: string): string {
  return join(archive, "wal")
}

/**
 * The folder for the history of this cluster. Each cluster has one of its own: names of segments
 * repeat from one to the next.
 */
export function archiveOf(history: string, cluster: string): string {
  // The first field of the file: see ControlFileData in PostgreSQL's pg_control.h.
  const system = readFileSync(join(cluster, "global/pg_control")).readBigUInt64LE(0)
  return join(history, String(system))
}

/** Creates the folder of the segments, which PostgreSQL's account writes to. */
export function createArchive(archive: string, account: Account | null): void {
  const segments = segmentsIn(archive)
  if (existsSync(segments)) return
  mkdirSync(archive, { recursive: true, mode: 0o700 })
  mkdirSync(segments, { mode: 0o700 })
  if (!account) return
  chownSync(archive, account.uid, account.gid)
  ownEverything(segments, account)
}

/**
 * The settings of a server that archives: compressed, since a segment that was switched early is
 * mostly empty. A segment gets its name once it is durable. A crash between that and PostgreSQL's
 * own note makes it hand over the same one again.
 */
export function archivingInto(archive: string): Record<string, string> {
  const segment = `${quoted(segmentsIn(archive))}/%f.gz`
  const isThere = `if test -f ${segment}; then gzip -dc ${segment} | cmp -s - %p`
  const write = `gzip -c1 %p > ${segment}.part && sync ${segment}.part && mv ${segment}.part ${segment} && sync ${quoted(segmentsIn(archive))}`
  return {
    archive_mode: "on",
    archive_command: `${isThere}; else ${write}; fi`,
    // Seconds. What was committed longer ago is in the archive.
    archive_timeout: String(ARCHIVE_TIMEOUT / 1000),
  }
}

/**
 * Archives what the cluster knows of its timelines, as it would have done while it recovered: a
 * later recovery then begins one that nobody had.
 */
export async function keepTimelines(history: string, cluster: string): Promise<void> {
  const segments = segmentsIn(archiveOf(history, cluster))
  if (!existsSync(segments)) return
  const wal = join(cluster, "pg_wal")
  for (const name of await readdir(wal)) {
    if (!/^[0-9A-F]{8}\.history$/.test(name)) continue
    const kept = join(segments, `${name}.gz`)
    if (!existsSync(kept)) await writeFile(kept, gzipSync(await readFile(join(wal, name))), { flush: true })
  }
}

/** Milliseconds. */
export const ARCHIVE_TIMEOUT = 60_000

/** The settings of a server that recovers from the archive. */
export function recoveringFrom(archive: string): Record<string, string> {
  return { restore_command: `gzip -dc ${quoted(segmentsIn(archive))}/%f.gz > %p` }
}

/** For the shell, in a setting where PostgreSQL replaces what follows a percent sign. */
function quoted(path: string): string {
  return `'${path.replaceAll("'", String.raw`'\''`).replaceAll("%", "%%")}'`
}
