import { join, resolve } from "node:path"
import * as v from "valibot"
import { refuseWhileRunning, removeSchema } from "#db/remove-schema.ts"
import { LIMITS } from "#server/realtime/limits.ts"
import { removeEngine } from "#server/realtime/remove.ts"
import { readSettings, withPostgres } from "./database.ts"
import { runCommand } from "./run-command.ts"
import { readArguments } from "./arguments.ts"

// `npm run leave`: removes Tideline from a PostgreSQL that others use too.

const USAGE = `Usage: npm run leave -- [--remove-data]

  Removes the replication slot and the publication from PostgreSQL, so that it holds no log for a Tideline that does not run. Records stay,
  and a Tideline that starts again makes both again.

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
  await withPostgres(readSettings(root), async (url) => {
    await refuseWhileRunning(url)
    const { slots, publication } = await removeEngine(url, LIMITS.name)
    const isGone = slots > 0 || publication
    process.stdout.write(
      isGone
        ? "The replication slot and the publication are removed.\n"
        : "There was no replication slot and no publication.\n",
    )
    if (!values["remove-data"]) return
    await removeSchema(url, join(root, "db/migrations"))
    process.stdout.write(
      "All records are removed from the database. The files are still in their folder or bucket.\n",
    )
  })
})
