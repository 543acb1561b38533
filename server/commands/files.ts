import { resolve } from "node:path"
import * as v from "valibot"
import { blobs } from "#db/schema/files.ts"
import { openBackup } from "#server/backup/place.ts"
import { restoreBytes } from "#server/backup/restore-bytes.ts"
import { checkFiles } from "#server/files/check.ts"
import { sweep } from "#server/files/sweep.ts"
import { describeUnfinished } from "#server/files/unfinished.ts"
import { openUploadLocks } from "#server/files/upload-locks.ts"
import { announce } from "#server/live.ts"
import { openLog } from "#server/log.ts"
import { openBlobs } from "#server/services.ts"
import { readArguments } from "./arguments.ts"
import { readSettings, withDatabase } from "./database.ts"
import { findBackup, readIdentities } from "./find-backup.ts"
import { runCommand } from "./run-command.ts"

// `npm run files -- <command>`: checks that stored files and their rows agree, whether Tideline is
// running or not.

const USAGE = `Usage: npm run files -- <command> [--checksums] [--from <backups> [--identity <file>]]

  check    look for files whose bytes are missing or damaged, bytes that are of no file, uploads past their time,
           and usage that does not add up; ends with 1 when there is any. Then what unfinished uploads hold
  repair   the same, and put right what can be put right without a backup

  --checksums        also read all bytes and compare their sha-256
  --from <backups>   with repair: first put back missing and damaged bytes that the newest backup of the folder or bucket,
                     or the one that is named, has
  --identity <file>  the key of an encrypted backup
`

const root = resolve(import.meta.dirname, "../..")

const Command = v.pipe(
  readArguments(
    { checksums: { type: "boolean" }, from: { type: "string" }, identity: { type: "string" } },
    USAGE,
  ),
  v.object({
    positionals: v.tuple([v.picklist(["check", "repair"])]),
    values: v.object({
      checksums: v.optional(v.boolean(), false),
      from: v.optional(v.pipe(v.string(), v.nonEmpty())),
      identity: v.optional(v.string()),
    }),
  }),
  v.check(({ positionals: [name], values }) => name === "repair" || values.from === undefined),
  v.transform(({ positionals: [name], values }) => ({ name, ...values })),
)

type Command = v.InferOutput<typeof Command>

await runCommand(Command, USAGE, async (command) => {
  const left = await run(command)
  if (left > 0) process.exitCode = 1
})

/** How many problems remain. */
async function run(command: Command): Promise<number> {
  const config = readSettings(root)
  return withDatabase(config, root, async (db, url) => {
    const log = openLog("warn")
    const uploadLocks = openUploadLocks({ announce, db, log, config }, url)
    try {
      return await perform(command, { db, log, config, uploadLocks, blobs: await openBlobs(config) })
    } finally {
      await uploadLocks.close()
    }
  })
}

async function perform(
  { name, checksums, from, identity }: Command,
  scope: Parameters<typeof sweep>[0],
): Promise<number> {
  // Problems that the server fixes by itself are not listed.
  if (name === "repair") {
    await refuseOtherStore(scope)
    await sweep(scope)
    if (from !== undefined) {
      const { place, name: backup } = await findBackup(root, from)
      const { kept } = await openBackup(place, backup, await readIdentities(identity))
      for await (const key of restoreBytes(scope, kept)) process.stdout.write(`restored    ${key}\n`)
    }
  }
  let found = 0
  let repaired = 0
  for await (const { kind, text, repair } of checkFiles(scope, { checksums })) {
    found++
    const isRepaired = name === "repair" && repair !== undefined
    if (isRepaired) {
      await repair()
      repaired++
    }
    process.stdout.write(`${kind.padEnd(10)}  ${text}${isRepaired ? " Repaired." : ""}\n`)
  }
  for (const line of await describeUnfinished(scope)) process.stdout.write(`${line}\n`)
  process.stdout.write(summaryOf(found, repaired))
  return found - repaired
}

/**
 * With a database that has no files, every stored file looks unused. Then it is probably another
 * installation's database.
 */
async function refuseOtherStore({ db, blobs: store }: Parameters<typeof sweep>[0]): Promise<void> {
  if ((await db.$count(blobs)) > 0) return
  for await (const { key } of store.list("stored")) {
    throw new Error(
      `The database knows no file at all, and the store holds some (${key}, for one). Check DATABASE_URL and BLOBS_URL. Nothing was repaired.`,
    )
  }
}

function summaryOf(found: number, repaired: number): string {
  if (found === 0) return "The files and their rows agree.\n"
  const problems = found === 1 ? "1 problem" : `${found} problems`
  return repaired > 0 ? `${problems}, ${repaired} repaired.\n` : `${problems}.\n`
}
