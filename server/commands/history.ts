import { stat } from "node:fs/promises"
import { resolve } from "node:path"
import { sql } from "drizzle-orm"
import * as v from "valibot"
import { onDatabase, type Database } from "#db/client.ts"
import { createArchive } from "#db/embedded/wal-archive.ts"
import { identify } from "#db/installation.ts"
import { openArchive, startKeepingHistory } from "#server/backup/history/keep-history.ts"
import { writeState } from "#server/backup/history/state.ts"
import { claimPlace, ownedFolder } from "#server/backup/owner.ts"
import type { Config } from "#server/config.ts"
import { openLog } from "#server/log.ts"
import { startRecurring } from "#server/recurring.ts"
import { openBlobFolder, openBlobs } from "#server/services.ts"
import { readSettings } from "./database.ts"
import { runCommand } from "./run-command.ts"

// The container that keeps the history of the PostgreSQL beside it: docker-compose.yml, profile
// `history`. It may read the files of the cluster, which Tideline itself may not.

const USAGE = "Usage: node build/server/history.js\n"

/** Milliseconds. */
const INTERVAL = 30_000

const root = resolve(import.meta.dirname, "../..")

await runCommand(v.tuple([]), USAGE, async () => {
  const config = readSettings(root)
  const { database, history: settings } = config
  if (database.kind === "embedded" || !settings)
    throw new Error("This is for a PostgreSQL with a DATABASE_URL, and needs BACKUP_HISTORY: docs/backup.md.")
  await onDatabase(database.url, { connections: 2 }, (db) =>
    keep(config, settings, { db, url: database.url }),
  )
})

/** Until the process is told to stop. */
async function keep(
  config: Config,
  settings: NonNullable<Config["history"]>,
  { db, url }: { db: Database; url: string },
) {
  const log = openLog(config.logLevel)
  const [found] = await db.execute<{ cluster: string }>(
    sql`select current_setting('data_directory') as cluster`,
  )
  const cluster = found?.cluster ?? ""
  await claimPlace(ownedFolder(settings.directory), await identify(url))
  const { archive, kept } = await openArchive({ directory: settings.directory, cluster }, openBlobFolder)
  const { uid, gid } = await stat(cluster)
  createArchive(archive, process.getuid?.() === 0 ? { uid, gid, canEnter: true } : null)
  const history = startKeepingHistory(
    { db, blobs: await openBlobs(config), log },
    { archive, kept, url, days: settings.days },
  )
  const noting = startRecurring(
    () =>
      writeState(settings.state, { behind: history.behind(), since: history.since() }).catch(
        (error: unknown) => {
          log.error({ err: error }, "could not write the state of the history")
        },
      ),
    INTERVAL,
  )
  log.info({ archive }, "keeps the history")
  await new Promise((stop) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, stop)
  })
  await noting.stop()
  await history.stop()
}
