import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import * as v from "valibot"
import { identify, type Identity } from "#db/installation.ts"
import type { Config } from "#server/config.ts"
import { readSettings, withPostgres } from "./database.ts"
import { checkDatabase, checkPooler } from "#server/ops/check-database.ts"
import { checkFollowed } from "#server/ops/check-followed.ts"
import { ok, type Finding } from "#server/ops/finding.ts"
import { checkBackups, checkHistory } from "./doctor/backups.ts"
import { checkServices } from "./doctor/services.ts"
import { runCommand } from "./run-command.ts"

// `npm run doctor`: checks that everything Tideline needs is there, and says what to do if it is
// not.

const USAGE = `Usage: npm run doctor

  Checks the settings, the database, files, mail, the model and the address, whether Tideline is running or not.
  Its exit status is 1 if something keeps Tideline from working. Warnings leave it at 0.
`

const root = resolve(import.meta.dirname, "../..")

await runCommand(v.tuple([]), USAGE, async () => {
  const config = readSettings(root)
  const findings = [ok("Settings", "They are complete."), ...(await checkAll(config))]
  const width = Math.max(...findings.map(({ about }) => about.length))
  const lines = findings.map(
    ({ state, about, text }) => `${state.padEnd(7)}  ${about.padEnd(width)}  ${text}\n`,
  )
  process.stdout.write(lines.join(""))
  if (findings.some(({ state }) => state === "problem")) process.exitCode = 1
})

async function checkAll(config: Config): Promise<Finding[]> {
  const [{ findings, own }, services] = await Promise.all([checkDatabases(config), checkServices(config)])
  return [
    ...findings,
    ...services,
    ...(await checkBackups(config, own)),
    ...(await checkHistory(config, own)),
  ]
}

interface Checked {
  findings: Finding[]
  /** Which database it is; null if it does not answer, or the first start creates it. */
  own: Identity | null
}

async function checkDatabases(config: Config): Promise<Checked> {
  const { database, databaseConnections, follow } = config
  if (database.kind === "external") {
    const { url, streamUrl } = database
    const direct = streamUrl ?? url
    const setting = streamUrl === null ? "DATABASE_URL" : "DATABASE_STREAM_URL"
    const findings = [
      ...(await checkDatabase(direct, setting, databaseConnections)),
      ...(streamUrl === null ? [] : [await checkPooler(url)]),
      ...(await Promise.all(follow.urls.map((followed) => checkFollowed(followed, direct)))).flat(),
    ]
    return { findings, own: await identify(direct).catch(() => null) }
  }
  if (!existsSync(join(database.directory, "data")))
    return { findings: [ok("Database", `The first start creates it in ${database.directory}.`)], own: null }
  return withPostgres(config, async (url) => ({
    findings: await checkDatabase(url, "The embedded PostgreSQL", databaseConnections),
    own: await identify(url).catch(() => null),
  }))
}
