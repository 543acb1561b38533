import { resolve } from "node:path"
import * as v from "valibot"
import { onDatabase } from "#db/client.ts"
import {
  beginMaintenance,
  findClosure,
  endMaintenance,
  passOf,
  type Closure,
} from "#server/maintenance/closure.ts"
import type { Config } from "#server/config.ts"
import type { Scope } from "#server/scope.ts"
import { readSettings, withPostgres } from "./database.ts"
import { runCommand } from "./run-command.ts"
import { readArguments } from "./arguments.ts"

// `npm run maintenance -- on`: shows everybody a maintenance page, on every process, until it is
// turned off. It works whether Tideline is running or not, and does not change the schema.

const USAGE = `Usage: npm run maintenance -- <command>

  on [--message <text>]  close to everybody, in your words or in ours, until it is off, restarts included
  off                    open again
  status                 say which it is
`

const root = resolve(import.meta.dirname, "../..")

const Command = v.pipe(
  readArguments({ message: { type: "string" } }, USAGE),
  v.object({
    positionals: v.tuple([v.picklist(["on", "off", "status"])]),
    values: v.object({
      message: v.optional(
        v.pipe(v.string(), v.trim(), v.nonEmpty(), v.maxLength(500, "A message has at most 500 characters.")),
      ),
    }),
  }),
)

type Command = v.InferOutput<typeof Command>

await runCommand(Command, USAGE, async (command) => {
  const config = readSettings(root)
  const said = await withPostgres(config, (url) =>
    onDatabase(url, { connections: 1 }, (db) => perform({ db, config }, command)),
  )
  process.stdout.write(`${said}\n`)
})

async function perform(scope: Scope<"db" | "config">, { positionals, values }: Command): Promise<string> {
  const [act] = positionals
  switch (act) {
    case "on":
      return describeClosed(scope.config, await beginMaintenance(scope, values.message ?? null))
    case "off":
      return (await endMaintenance(scope)) ? "Tideline is open again." : "Tideline was open already."
    case "status": {
      const closure = await findClosure(scope)
      return closure ? describeClosed(scope.config, closure) : "Tideline is open."
    }
  }
}

function describeClosed(config: Config, closure: Closure): string {
  const notice = closure.message === null ? "" : ` It says: ${closure.message}`
  return (
    `Tideline is closed for maintenance.${notice}\n` +
    `Anyone who opens this URL can use Tideline in the meantime:\n${config.origin}/maintenance/${passOf(config, closure)}`
  )
}
