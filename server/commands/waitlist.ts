import { resolve } from "node:path"
import * as v from "valibot"
import type { WaitlistRow } from "#db/schema/waitlist.ts"
import { JoinWaitlist } from "#server/waitlist/contract.ts"
import { writeCsv } from "#server/waitlist/csv.ts"
import { eachPlace, inviteFromWaitlist } from "#server/waitlist/waitlist.ts"
import { readSettings, withDatabase } from "./database.ts"
import { runCommand } from "./run-command.ts"

// `npm run waitlist -- <command>`: the waitlist, for operators. It works whether Tideline is
// running or not; if not, invitations are sent when it starts.

const USAGE = `Usage: npm run waitlist -- <command>

  list            who waits, since when, and what became of it
  export          the same as CSV
  invite <email>  write to an address with a link that lets it in, once, also where sign-up is closed
`

const root = resolve(import.meta.dirname, "../..")

const Command = v.union(
  [
    v.tuple([v.literal("list")]),
    v.tuple([v.literal("export")]),
    v.tuple([v.literal("invite"), JoinWaitlist.entries.email]),
  ],
  USAGE,
)

await runCommand(Command, USAGE, async (command) => {
  process.stdout.write(`${await run(command)}
`)
})

async function run(command: v.InferOutput<typeof Command>): Promise<string> {
  const config = readSettings(root)
  return withDatabase(config, root, async (db) => {
    const scope = { db, config }
    switch (command[0]) {
      case "list":
        return describePlaces(await toArray(eachPlace(scope)))
      case "export":
        return (await toArray(writeCsv(eachPlace(scope)))).join("").trimEnd()
      case "invite": {
        const [, email] = command
        const link = await inviteFromWaitlist(scope, email)
        if (link === null) throw new Error(`${email} has already used an invitation.`)
        return `An invitation to ${email} is in the outbox. It carries this link, good for 14 days, once:\n${link}`
      }
    }
  })
}

async function toArray<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const array: Item[] = []
  for await (const item of items) array.push(item)
  return array
}

function describePlaces(places: WaitlistRow[]): string {
  if (places.length === 0) return "Nobody is on the waitlist."
  const width = Math.max(...places.map(({ email }) => email.length))
  return places
    .map((place) => `${day(place._creationTime)}  ${place.email.padEnd(width)}  ${stateOf(place)}`)
    .join("\n")
}

function stateOf({ confirmedAt, invitedAt, joinedAt }: WaitlistRow): string {
  if (joinedAt !== null) return `joined ${day(joinedAt)}`
  if (invitedAt !== null) return `invited ${day(invitedAt)}`
  return confirmedAt === null ? "not confirmed" : "confirmed"
}

function day(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}
