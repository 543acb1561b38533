import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { setTimeout } from "node:timers/promises"
import * as v from "valibot"
import { grantToApplication } from "#db/application-role.ts"
import { LIMITS, openPostgres, prepareEngine, readDatabaseUrl } from "#live/check"
import { migrate } from "#db/migrate.ts"
import { watchedTables } from "#server/live-functions.ts"
import { readSettings, withPostgres } from "./database.ts"
import { runCommand } from "./run-command.ts"
import { readArguments } from "./arguments.ts"

// `npm run migrate`: for servers whose role may not change tables.

const USAGE = `Usage: npm run migrate -- [--for <file>]

  Brings the database behind DATABASE_URL to this version: its tables, and what the stream of records needs. The server does so itself at its
  start, where its role owns the tables. Let this be done by another role, and the server's may use the tables and change none.

  --for <file>   a file with the server's own DATABASE_URL; its role is made, and may do what the server needs
`

const root = resolve(import.meta.dirname, "../..")

const Command = v.pipe(
  readArguments({ for: { type: "string" } }, USAGE),
  v.object({
    positionals: v.tuple([], USAGE),
    values: v.object({ for: v.optional(v.pipe(v.string(), v.nonEmpty())) }),
  }),
)

/** Of several servers that are started together, the primary may not be there yet. Milliseconds. */
const PRIMARY_WAIT = 60_000

await runCommand(Command, USAGE, async ({ values }) => {
  await withPostgres(readSettings(root), async (url) => {
    await waitForPrimary(url)
    await migrate(url, join(root, "db/migrations"))
    await prepareEngine(url, LIMITS.name, watchedTables)
    process.stdout.write("The database is up to date.\n")
    if (values.for === undefined) return
    const text = readFileSync(values.for, "utf8").trim()
    const role = await grantToApplication(url, readDatabaseUrl(text) ?? text)
    process.stdout.write(`The role ${role} has access to it.\n`)
  })
})

async function waitForPrimary(url: string): Promise<void> {
  for (const deadline = Date.now() + PRIMARY_WAIT; ; await setTimeout(500)) {
    const client = openPostgres(url, { max: 1, onnotice: () => {} })
    try {
      await client`select 1`
      return
    } catch (error) {
      const isExpected = error instanceof Error && "code" in error && error.code === "NO_PRIMARY"
      if (!isExpected || Date.now() > deadline) throw error
    } finally {
      await client.end({ timeout: 0 }).catch(() => {})
    }
  }
}
