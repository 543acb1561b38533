import { basename, dirname, join, resolve } from "node:path"
import * as v from "valibot"
import { openDiskBlobs } from "#server/adapters/blobs/disk.ts"
import { blobsIn, historyIn, isBackupName, listBackups } from "#server/backup/folder.ts"
import { Moment } from "#server/backup/history/moment.ts"
import { restoreMoment, type Restored } from "#server/backup/history/recover-moment.ts"
import { restoreBackup } from "#server/backup/restore.ts"
import { verifyBackup } from "#server/backup/verify.ts"
import { openBlobFolder, openBlobs } from "#server/services.ts"
import { readSettings, withPostgres } from "./database.ts"
import { runCommand } from "./run-command.ts"
import { readArguments } from "./arguments.ts"

// `npm run restore -- <folder>`: restores a backup into an empty installation.

const USAGE = `Usage: npm run restore -- <folder> [--to <moment>] [--check] [--keep-sessions]

  Restores the newest backup of the folder, or the one that the folder is, into the database and the store of files that
  the settings name. Both have to be empty.

  --to <moment>    the state of a moment of the history in the folder instead (BACKUP_HISTORY), into an embedded PostgreSQL:
                   "2026-11-22 14:03" in UTC, also with seconds, or latest
  --check          only read the backup, and say whether it is whole
  --keep-sessions  leave everybody signed in who was at the backup's moment
`

const root = resolve(import.meta.dirname, "../..")

const Command = v.pipe(
  readArguments(
    { check: { type: "boolean" }, "keep-sessions": { type: "boolean" }, to: { type: "string" } },
    USAGE,
  ),
  v.object({
    positionals: v.tuple([v.pipe(v.string(), v.nonEmpty())]),
    values: v.object({
      to: v.optional(Moment),
      check: v.optional(v.boolean(), false),
      "keep-sessions": v.optional(v.boolean(), false),
    }),
  }),
)

await runCommand(Command, USAGE, async ({ positionals, values }) => {
  if (values.to !== undefined) return restoreTo(resolve(positionals[0]), values.to, values["keep-sessions"])
  const folder = await findBackup(resolve(positionals[0]))
  const kept = await openDiskBlobs(blobsIn(dirname(folder)))
  if (values.check) {
    const { takenAt, version } = await verifyBackup(folder, kept)
    process.stdout.write(`${folder} is complete: taken at ${takenAt} by Tideline ${version}.\n`)
    return
  }
  const config = readSettings(root)
  const { manifest, foreign } = await withPostgres(config, async (databaseUrl) =>
    restoreBackup(folder, kept, {
      databaseUrl,
      migrations: join(root, "db/migrations"),
      blobs: await openBlobs(config),
      keepSessions: values["keep-sessions"],
    }),
  )
  process.stdout.write(`Restored the state of ${manifest.takenAt}. Start Tideline now.\n`)
  for (const { schema, name } of foreign) {
    process.stdout.write(`${schema}.${name} is not one of Tideline's tables and was skipped.\n`)
  }
  if (manifest.blobs.lost.length > 0) {
    process.stdout.write(`The bytes of ${manifest.blobs.lost.length} files were lost before the backup.\n`)
  }
})

async function restoreTo(directory: string, to: Moment, keepSessions: boolean) {
  const config = readSettings(root)
  const { database } = config
  if (database.kind === "external")
    throw new Error(
      "--to restores into the embedded PostgreSQL, and DATABASE_URL is set. Nothing was changed.",
    )
  const restored = await restoreMoment(historyIn(directory), to === "latest" ? null : to, {
    database: database.directory,
    migrations: join(root, "db/migrations"),
    blobs: await openBlobs(config),
    keepSessions,
    openFolder: openBlobFolder,
  })
  process.stdout.write(describeMoment(restored, to))
}

function describeMoment({ lastCommit, isReached, lost }: Restored, to: Moment): string {
  const when = lastCommit === null ? "when the cluster was copied" : new Date(lastCommit).toISOString()
  const wanted =
    to === "latest" ? "the newest state in the history" : `the state of ${new Date(to).toISOString()}`
  const what = isReached
    ? `Restored ${wanted}. Its last change is of ${when}.`
    : `The history ends before ${new Date(Number(to)).toISOString()}. Restored all of it: the last change is of ${when}. A Tideline that still runs archives its last minute when it is stopped.`
  const missing = lost.length > 0 ? `\nThe history does not have the bytes of ${lost.join(", ")}.` : ""
  return `${what} Start Tideline now.${missing}\n`
}

async function findBackup(folder: string): Promise<string> {
  if (isBackupName(basename(folder))) return folder
  const newest = (await listBackups(folder)).at(-1)
  if (newest === undefined) throw new Error(`There is no backup in ${folder}.`)
  return join(folder, newest)
}
