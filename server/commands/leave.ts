import { join, resolve } from "node:path"
import * as v from "valibot"
import { refuseWhileRunning, removeSchema } from "#db/remove-schema.ts"
import { LIMITS, nameOfServers, reasonOf, removeEngine, removeSlots } from "#live/check"
import { readSettings, withPostgres } from "./database.ts"
import { runCommand } from "./run-command.ts"
import { readArguments } from "./arguments.ts"

// `npm run leave`: removes Tideline from a PostgreSQL that others use too.

const USAGE = `Usage: npm run leave -- [--remove-data]

  Removes the replication slot and the publication from PostgreSQL, so that it holds no log for a Tideline that does not run, and the slots
  from the servers in FOLLOW_DATABASE_URL. Records stay, and a Tideline that starts again makes all of it again.

  --remove-data   also remove all records, accounts included. Take a backup first: this cannot be undone.
`

const root = resolve(import.meta.dirname, "../..")

const Command = v.pipe(
  readArguments({ "remove-data": { type: "boolean" } }, USAGE),
  v.object({
    positionals: v.tuple([], USAGE),
    values: v.object({ "remove-data": v.optional(v.boolean(), false) }),
  }),
)

await runCommand(Command, USAGE, async ({ values }) => {
  const config = readSettings(root)
  await withPostgres(config, async (url) => {
    await refuseWhileRunning(url)
    const { slots, publication } = await removeEngine(url, LIMITS.name)
    const isGone = slots > 0 || publication
    process.stdout.write(
      isGone
        ? "The replication slot and the publication are removed.\n"
        : "There was no replication slot and no publication.\n",
    )
    for (const followed of config.follow.urls) await leaveFollowed(followed)
    if (!values["remove-data"]) return
    await removeSchema(url, join(root, "db/migrations"))
    process.stdout.write(
      "All records are removed from the database. The files are still in their folder or bucket.\n",
    )
  })
})

/** A server that is down is named, and keeps the others from nothing. */
async function leaveFollowed(url: string) {
  const name = nameOfServers(url)
  try {
    const slots = await removeSlots(url, LIMITS.name)
    process.stdout.write(
      slots > 0 ? `The slot on ${name} is removed.\n` : `There was no slot left on ${name}.\n`,
    )
  } catch (error) {
    process.stderr.write(
      `The slot on ${name} could not be removed (${reasonOf(error)}). Run npm run leave again when the server is back, or it keeps its log.\n`,
    )
    process.exitCode = 1
  }
}
