import { once } from "node:events"
import { stat } from "node:fs/promises"
import { createServer } from "node:net"
import { dirname, join, resolve } from "node:path"
import * as v from "valibot"
import { ownEverything } from "#db/embedded/account.ts"
import { reasonOf } from "#live/check"
import { verifyEncrypted } from "#server/backup/encryption.ts"
import { historyIn } from "#server/backup-config.ts"
import { Moment } from "#server/backup/history/moment.ts"
import {
  finishMoment,
  prepareMoment,
  restoreMoment,
  type Restored,
} from "#server/backup/history/recover-moment.ts"
import { openBackup, openStored, type Place } from "#server/backup/place.ts"
import { restoreBackup } from "#server/backup/restore.ts"
import { verifyBackup } from "#server/backup/verify.ts"
import { takeOver } from "#server/backup/take-over.ts"
import type { Config } from "#server/config.ts"
import { openBackupBucket, openBlobFolder, openBlobs } from "#server/services.ts"
import { previewSettings, readSettings, withPostgres } from "./database.ts"
import { findBackup, readIdentities } from "./find-backup.ts"
import { runDrill } from "./restore-drill.ts"
import { runCommand } from "./run-command.ts"
import { readArguments } from "./arguments.ts"
import { sayWhatIsForeign, takeOverSettings } from "./take-over-settings.ts"

// `npm run restore -- <folder>`: restores a backup into an empty installation.

const USAGE = `Usage: npm run restore -- <folder or s3://bucket/folder> [--identity <file>] [--to <moment>] [--check] [--drill] [--keep-sessions] [--take-over]

  Restores the newest backup of the folder or bucket, or the one that is named, into the database and the store of files
  that the settings name. Both have to be empty.

  --identity <file>  the key of an encrypted backup, as npm run backup-key or age-keygen wrote it
  --to <moment>      the state of a moment of the history in the folder instead (BACKUP_HISTORY), into an embedded PostgreSQL:
                     "2026-11-22 14:03" in UTC, also with seconds, or latest
  --cluster <folder>  with --to: the folder of the PostgreSQL in its container, which recovers when it starts
  --finish           with --cluster: what follows when it has
  --check            only read the backup, and say whether it is whole
  --keep-sessions    leave everybody signed in who was at the backup's moment
  --drill            restore into a folder of its own and run Tideline there until Ctrl+C, without any setting that leads to this
                     installation: its database, files, mail and backups stay as they are
  --take-over        what is restored takes the place of the original, and continues the backups and the history of the settings
`

const root = resolve(import.meta.dirname, "../..")

const Command = v.pipe(
  readArguments(
    {
      check: { type: "boolean" },
      cluster: { type: "string" },
      drill: { type: "boolean" },
      finish: { type: "boolean" },
      identity: { type: "string" },
      "keep-sessions": { type: "boolean" },
      "take-over": { type: "boolean" },
      to: { type: "string" },
    },
    USAGE,
  ),
  v.object({
    positionals: v.tuple([v.pipe(v.string(), v.nonEmpty())]),
    values: v.object({
      to: v.optional(Moment),
      check: v.optional(v.boolean(), false),
      cluster: v.optional(v.string()),
      drill: v.optional(v.boolean(), false),
      finish: v.optional(v.boolean(), false),
      identity: v.optional(v.string()),
      "keep-sessions": v.optional(v.boolean(), false),
      "take-over": v.optional(v.boolean(), false),
    }),
  }),
)

await runCommand(Command, USAGE, async ({ positionals, values }) => {
  const { cluster, to } = values
  if (values.drill) return drill(positionals[0], values)
  if (cluster !== undefined && values.finish)
    return finish(resolve(positionals[0]), resolve(cluster), values["keep-sessions"])
  if (cluster !== undefined && to !== undefined) return prepare(resolve(positionals[0]), to, resolve(cluster))
  if (to !== undefined) return restoreTo(resolve(positionals[0]), to, values)
  const { place, name } = await findBackup(root, positionals[0])
  const identities = await readIdentities(values.identity)
  if (values.check) return check(place, name, identities)
  const config = previewSettings(root)
  await refuseRunning(config)
  const backup = await openBackup(place, name, identities)
  const { manifest, foreign } = await withPostgres(config, async (databaseUrl) => {
    const restored = await restoreBackup(backup, {
      databaseUrl,
      migrations: join(root, "db/migrations"),
      blobs: await openBlobs(config),
      keepSessions: values["keep-sessions"],
    })
    await settleOwnership(config, databaseUrl, values)
    return restored
  })
  keepSettings()
  process.stdout.write(`Restored the state of ${manifest.takenAt}. Start Tideline now.\n`)
  for (const table of foreign) {
    process.stdout.write(`${table.schema}.${table.name} is not one of Tideline's tables and was skipped.\n`)
  }
  if (manifest.blobs.lost.length > 0) {
    process.stdout.write(`The bytes of ${manifest.blobs.lost.length} files were lost before the backup.\n`)
  }
})

/**
 * Refuses if a Tideline of these settings still runs. The folder of its embedded PostgreSQL may have
 * been moved away, which that does not notice: it writes `pg_control` by its full path, and so into
 * what is restored there.
 */
async function refuseRunning({ database, host, port }: Config) {
  if (database.kind === "external") return
  const server = createServer().listen({ port, host })
  const isFree = await once(server, "listening").then(
    () => true,
    // Not that we may not listen there: that does not say who does.
    (error: NodeJS.ErrnoException) => error.code !== "EADDRINUSE",
  )
  server.close()
  if (!isFree)
    throw new Error(
      `Port ${port} is in use. If it is Tideline, stop it before you restore; if it is another program, set PORT to another number. Nothing was changed.`,
    )
}

async function check(place: Place, name: string, identities: string[]) {
  const { stored, encryption } = await openStored(place, name)
  if (encryption && identities.length === 0) {
    await verifyEncrypted(stored, encryption)
    process.stdout.write(
      `${stored.at} is complete: taken at ${encryption.takenAt}. It is encrypted; --identity <file> reads it as well.\n`,
    )
    return
  }
  const { takenAt, version } = await verifyBackup(await openBackup(place, name, identities))
  process.stdout.write(`${stored.at} is complete: taken at ${takenAt} by Tideline ${version}.\n`)
}

async function drill(from: string, values: { identity?: string | undefined; to?: Moment | undefined }) {
  const words = [from.startsWith("s3:") ? from : resolve(from)]
  if (values.identity !== undefined) words.push("--identity", resolve(values.identity))
  if (values.to !== undefined)
    words.push("--to", values.to === "latest" ? values.to : new Date(values.to).toISOString())
  await runDrill(root, words, previewSettings(root))
}

/** Whether the backups and the history of the settings continue as those of what was restored. */
async function settleOwnership(config: Config, url: string, values: { "take-over": boolean }) {
  try {
    if (values["take-over"]) await takeOverSettings(config, url)
    else await sayWhatIsForeign(config, url)
  } catch (error) {
    // What is restored stays restored.
    process.stderr.write(`${reasonOf(error)} When that works: npm run backup -- --take-over\n`)
    process.exitCode = 1
  }
}

async function restoreTo(
  directory: string,
  to: Moment,
  values: { "keep-sessions": boolean; "take-over": boolean },
) {
  const config = previewSettings(root)
  const { database } = config
  if (database.kind === "external")
    throw new Error(
      "--to restores into the embedded PostgreSQL, and DATABASE_URL is set. Nothing was changed.",
    )
  await refuseRunning(config)
  const restored = await restoreMoment(historyIn(directory), to === "latest" ? null : to, {
    database: database.directory,
    migrations: join(root, "db/migrations"),
    blobs: await openBlobs(config),
    keepSessions: values["keep-sessions"],
    continues: values["take-over"] && config.history?.directory === historyIn(directory),
    openFolder: openBlobFolder,
  })
  keepSettings()
  await withPostgres(config, (url) => settleOwnership(config, url, values))
  process.stdout.write(describeMoment(restored, to))
}

/** Writes `.env` if there is none: the next start would, and take itself for the first one. */
function keepSettings() {
  readSettings(root)
}

async function prepare(directory: string, to: Moment, cluster: string) {
  const aside = await prepareMoment(historyIn(directory), to === "latest" ? null : to, cluster)
  if (aside !== null)
    process.stdout.write(`What was there is in ${aside}. Remove it when you no longer need it.\n`)
  process.stdout.write(
    `${cluster} is ready. PostgreSQL recovers when it starts; then run this with --finish.\n`,
  )
}

async function finish(directory: string, cluster: string, keepSessions: boolean) {
  const config = previewSettings(root)
  const { blobs: store, database } = config
  if (database.kind === "embedded")
    throw new Error(
      "--finish is for a PostgreSQL of its own, and DATABASE_URL is not set. Nothing was changed.",
    )
  const lost = await finishMoment(historyIn(directory), cluster, {
    url: database.streamUrl ?? database.url,
    migrations: join(root, "db/migrations"),
    blobs: await openBlobs(config),
    keepSessions,
    openFolder: openBlobFolder,
  })
  // The cluster of before was moved aside: this one is in its place.
  await takeOver(config, database.streamUrl ?? database.url, () => openBackupBucket(config))
  keepSettings()
  // Root may read the archive, and the processes are not root.
  if (store.kind === "disk" && process.getuid?.() === 0) {
    const { uid, gid } = await stat(dirname(store.directory))
    ownEverything(store.directory, { uid, gid, canEnter: true })
  }
  const missing = lost.length > 0 ? ` The history does not have the bytes of ${lost.join(", ")}.` : ""
  process.stdout.write(
    `PostgreSQL has recovered, and the files have their bytes.${missing} Start Tideline now.\n`,
  )
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
