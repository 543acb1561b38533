import { resolve } from "node:path"
import * as v from "valibot"
import { version } from "#server/version.ts"
import { backUp, type Backup } from "#server/backup/back-up.ts"
import { KeepText, type Keep } from "#server/backup-settings.ts"
import { takeOverFolder } from "#server/backup/take-over.ts"
import type { Config } from "#server/config.ts"
import { formatBytes } from "#server/text-contract.ts"
import { openBlobFolder, openBlobs } from "#server/services.ts"
import { readSettings, withPostgres } from "./database.ts"
import { runCommand } from "./run-command.ts"
import { takeOverSettings } from "./take-over-settings.ts"
import { readArguments } from "./arguments.ts"

// `npm run backup -- <folder>`: all rows and files at one moment, whether Tideline is running or
// not.

const USAGE = `Usage: npm run backup -- <folder> [--keep <backups>] [--with-secret] [--skip-lost] [--take-over]
       npm run backup -- --take-over

  Writes a backup into the folder, beside earlier ones. Bytes of files that the folder has already are not copied again.
  With BACKUP_RECIPIENT it is encrypted.

  --keep <backups>  afterwards keep so many of the newest (14), or the newest of so many days, weeks and months ("7d 4w 12m")
  --with-secret     also write AUTH_SECRET down, in secrets.env
  --skip-lost       go on without files whose bytes are missing or damaged already
  --take-over       continue a folder of another database, because this one takes its place: after a restore, a move, or
                    an upgrade of PostgreSQL. Without a folder, those of the settings: scheduled backups, bucket and history
`

const root = resolve(import.meta.dirname, "../..")

const Command = v.pipe(
  readArguments(
    {
      keep: { type: "string" },
      "with-secret": { type: "boolean" },
      "skip-lost": { type: "boolean" },
      "take-over": { type: "boolean" },
    },
    USAGE,
  ),
  v.union([
    v.object({
      positionals: v.tuple([v.pipe(v.string(), v.nonEmpty())]),
      values: v.object({
        keep: v.optional(KeepText),
        "with-secret": v.optional(v.boolean(), false),
        "skip-lost": v.optional(v.boolean(), false),
        "take-over": v.optional(v.boolean(), false),
      }),
    }),
    v.object({ positionals: v.strictTuple([]), values: v.strictObject({ "take-over": v.literal(true) }) }),
  ]),
)

await runCommand(Command, USAGE, async ({ positionals, values }) => {
  const config = readSettings(root)
  if ("skip-lost" in values) await backUpInto(resolve(positionals[0] ?? ""), config, values)
  else await withPostgres(config, (url) => takeOverSettings(config, url))
})

async function backUpInto(directory: string, config: Config, values: Values) {
  const begun = performance.now()
  const backup = await withPostgres(config, async (databaseUrl) => {
    if (values["take-over"]) await takeOverFolder(directory, databaseUrl)
    return backUp(
      {
        databaseUrl,
        blobs: await openBlobs(config),
        version: version.number,
      },
      {
        directory,
        openFolder: openBlobFolder,
        recipients: config.backupRecipients,
        secret: values["with-secret"] ? config.identity.authSecret : undefined,
        skipLost: values["skip-lost"],
        keep: values.keep,
      },
    )
  })
  process.stdout.write(`${describe(backup)} It took ${Math.round((performance.now() - begun) / 1000)} s.\n`)
  const { removed } = backup
  if (removed > 0)
    process.stdout.write(
      `${removed === 1 ? "1 older backup was" : `${removed} older backups were`} removed.\n`,
    )
}

interface Values {
  keep?: Keep | undefined
  "with-secret": boolean
  "skip-lost": boolean
  "take-over": boolean
}

function describe({ folder, manifest, copied, isEncrypted }: Backup): string {
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
  const { count, bytes, lost } = manifest.blobs
  const without = lost.length > 0 ? ` The bytes of ${lost.length} are lost, and not in it.` : ""
  return (
    `${folder} has ${rows} rows of ${manifest.tables.length} tables, and ${count} files' bytes (${formatBytes(bytes)}), ` +
    `${copied} of them new.${isEncrypted ? " It is encrypted." : ""}${without}`
  )
}
