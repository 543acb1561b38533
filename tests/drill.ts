/**
 * Loses the database, a file's bytes, a secret, the disk, the process and the time of a scratch
 * installation, one after the other, and takes the documented way back from each:
 *
 *     npm run drill
 *     npm run drill -- blob disk     only these
 *     npm run drill -- --json
 *
 * Shows what people see, what the operator is told, and how long the way back took. Exits with 1 if
 * something was not as documented.
 */
import { parseArgs } from "node:util"
import { resolve } from "node:path"
import { buildApp, isOutOfDate } from "#server/commands/bundle.ts"
import type { Outcome } from "./drills/drill.ts"
import { DRILLS, runDrill } from "./drills/drills.ts"

const root = resolve(import.meta.dirname, "..")
const { values, positionals } = parseArgs({
  options: { json: { type: "boolean", default: false } },
  allowPositionals: true,
})
const chosen = DRILLS.filter(
  ({ name }) => positionals.length === 0 || positionals.includes(name.split(" ")[0] ?? ""),
)
if (chosen.length === 0) {
  process.stderr.write(
    `Name some of: ${[...new Set(DRILLS.map(({ name }) => name.split(" ")[0]))].join(", ")}\n`,
  )
  process.exit(1)
}
if (isOutOfDate(root)) await buildApp(root)
const outcomes: (Outcome & { name: string; loss: string })[] = []
for (const drill of chosen) {
  if (!values.json) process.stderr.write(`Losing ${drill.loss} ...\n`)
  outcomes.push({ name: drill.name, loss: drill.loss, ...(await runDrill(drill)) })
}
process.stdout.write(values.json ? `${JSON.stringify(outcomes, null, 2)}\n` : describe())
process.exitCode = outcomes.some(({ faults }) => faults.length > 0) ? 1 : 0

function describe(): string {
  const parts = outcomes.map(({ name, loss, seen, told, back, milliseconds, lost, faults }) => {
    const lines = [
      `${name}: ${loss}`,
      ...seen.map((line) => `  people see        ${line}`),
      ...told.map((line) => `  operator is told  ${line}`),
      `  way back          ${back}`,
      `  it took           ${(milliseconds / 1000).toFixed(1)} s; lost: ${lost}`,
      ...faults.map((line) => `  FAULT             ${line}`),
    ]
    return `${lines.join("\n")}\n`
  })
  const table = outcomes.map(({ name, milliseconds, lost, faults }) =>
    [
      name.padEnd(16),
      `${(milliseconds / 1000).toFixed(1)} s`.padStart(8),
      faults.length === 0 ? "ok " : "FAULT",
      lost,
    ].join("  "),
  )
  return `\n${parts.join("\n")}\n${table.join("\n")}\n`
}
