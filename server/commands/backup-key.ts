import { writeFile } from "node:fs/promises"
import { resolve } from "node:path"
import { generateX25519Identity, identityToRecipient } from "age-encryption"
import * as v from "valibot"
import { readArguments } from "./arguments.ts"
import { runCommand } from "./run-command.ts"

// `npm run backup-key -- <file>`: a key for encrypted backups, as age-keygen writes it.

const USAGE = `Usage: npm run backup-key -- <file>

  Writes a new key into the file, and prints its recipient for BACKUP_RECIPIENT. Backups are encrypted with the recipient
  and decrypted with the file: keep it in a safe place, and not on this machine.
`

const Command = v.pipe(
  readArguments({}, USAGE),
  v.object({ positionals: v.tuple([v.pipe(v.string(), v.nonEmpty())]), values: v.object({}) }),
)

await runCommand(Command, USAGE, async ({ positionals }) => {
  const path = resolve(positionals[0])
  const identity = await generateX25519Identity()
  const recipient = await identityToRecipient(identity)
  const lines = [`# created: ${new Date().toISOString()}`, `# public key: ${recipient}`, identity, ""]
  await writeFile(path, lines.join("\n"), { mode: 0o600, flag: "wx", flush: true }).catch((error: Error) => {
    throw new Error(`The key cannot be written: ${error.message}`)
  })
  process.stdout.write(`BACKUP_RECIPIENT=${recipient}\n`)
  process.stderr.write(
    `${path} is the only thing that decrypts the backups. Move it to a safe place, not on this machine.\n`,
  )
})
