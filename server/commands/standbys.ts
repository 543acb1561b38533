import { resolve } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import * as v from "valibot"
import { askMembers, chooseStandby, formatPosition, refuseMoved, type Member } from "#server/ops/standbys.ts"
import { readArguments } from "./arguments.ts"
import { readSettings } from "./database.ts"
import { runCommand } from "./run-command.ts"

// `npm run standbys`: which standby has everything, when the primary is lost.

const USAGE = `Usage: npm run standbys -- [--without <host:port>]...

  Asks every server of FOLLOW_DATABASE_URL how much of the log it has, and says which one to promote, or why that cannot be known.
  Its exit status is 1 if it names none. It changes nothing.

  --without <host:port>  this server is lost for good, whatever only it had
`

const root = resolve(import.meta.dirname, "../..")
/** Milliseconds: what a primary that still runs sends in. */
const BETWEEN_LOOKS = 1000

const Command = v.pipe(
  readArguments({ without: { type: "string", multiple: true } }, USAGE),
  v.object({
    positionals: v.strictTuple([]),
    values: v.object({ without: v.optional(v.array(v.string()), []) }),
  }),
)

await runCommand(Command, USAGE, async ({ values: { without } }) => {
  const { urls } = readSettings(root).follow
  if (urls.length === 0)
    throw new Error("FOLLOW_DATABASE_URL is not set. It names every server that may be promoted.")
  const before = await askMembers(urls)
  await pause(BETWEEN_LOOKS)
  const members = await askMembers(urls)
  const missing = without.find((name) => members.every((member) => member.name !== name))
  if (missing !== undefined)
    throw new Error(
      `${missing} is not in FOLLOW_DATABASE_URL, which names ${members.map(({ name }) => name).join(", ")}.`,
    )
  const width = Math.max(...members.map(({ name }) => name.length))
  for (const member of members) process.stdout.write(`${member.name.padEnd(width)}  ${describe(member)}\n`)
  const { promote, text } = refuseMoved(before, members) ?? chooseStandby(members, without)
  process.stdout.write(`${text}\n`)
  if (promote === null) process.exitCode = 1
})

function describe(member: Member): string {
  if (member.state === "silent") return `does not answer: ${member.reason}`
  return `${member.state}, timeline ${member.timeline}, has the log to ${formatPosition(member.position)}`
}
