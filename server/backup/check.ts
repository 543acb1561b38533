import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as v from "valibot"
import { loadDump, refuseUnknownSchema } from "#db/dump/load.ts"
import { migrate } from "#db/migrate.ts"
import { withScratchDatabase } from "#db/scratch-database.ts"
import type { Backup } from "./back-up.ts"
import { isBackupName, listBackups } from "./folder.ts"
import { backupInFolder } from "./stored-backup.ts"
import { readTable, verifyBackup } from "./verify.ts"

/**
 * What proves that a backup can be restored: its rows were loaded into a database of its own and
 * compared, or its files were only read and compared.
 */
export type Proof = "restored" | "read"

const Checked = v.object({
  at: v.pipe(v.string(), v.isoTimestamp()),
  proof: v.picklist(["restored", "read"]),
})

/**
 * Checks a backup that was just written, notes the result in its folder, and returns it. `proof` is
 * the wanted one: without the right to create a database, the files are only read. Throws an error
 * that names what is missing or damaged.
 */
export async function checkBackup(
  { folder, reader, isEncrypted }: Pick<Backup, "folder" | "reader" | "isEncrypted">,
  { databaseUrl, migrations, proof }: { databaseUrl: string; migrations: string; proof: Proof },
): Promise<Proof> {
  const manifest = await verifyBackup(reader, isEncrypted ? backupInFolder(folder, reader.kept) : undefined)
  refuseUnknownSchema(manifest.schema, migrations)
  const isRestored =
    proof === "restored" &&
    (await withScratchDatabase(databaseUrl, async (url) => {
      const open = (table: (typeof manifest.tables)[number]) => readTable(reader, table)
      await loadDump(url, migrations, { ...manifest, open }, () => Promise.resolve())
      await migrate(url, migrations)
    }))
  const reached = isRestored ? "restored" : "read"
  const note: v.InferOutput<typeof Checked> = { at: new Date().toISOString(), proof: reached }
  await writeFile(noteIn(folder), JSON.stringify(note), { mode: 0o600, flush: true })
  return reached
}

export interface CheckedBackup {
  name: string
  /** Milliseconds since the epoch. */
  takenAt: number
  proof: Proof
}

/** The newest backup of a folder that was checked; null if there is none. */
export async function findChecked(directory: string): Promise<CheckedBackup | null> {
  for (const name of (await listBackups(directory)).toReversed()) {
    const checked = await readNote(directory, name)
    if (checked) return checked
  }
  return null
}

/** The backups of a folder that were checked, oldest first. */
export async function listChecked(directory: string): Promise<CheckedBackup[]> {
  const names = await listBackups(directory)
  const checked = await Promise.all(names.map((name) => readNote(directory, name)))
  return checked.filter((each) => each !== null)
}

async function readNote(directory: string, name: string): Promise<CheckedBackup | null> {
  const note = await readFile(noteIn(join(directory, name)), "utf8").catch(() => null)
  const checked = note === null ? null : v.safeParse(v.pipe(v.string(), v.parseJson(), Checked), note)
  return checked?.success ? { name, takenAt: timeIn(name), proof: checked.output.proof } : null
}

/** The time in the name of a backup. Milliseconds since the epoch. */
export function timeIn(name: string): number {
  if (!isBackupName(name)) throw new Error(`${name} is not the name of a backup.`)
  return Date.parse(name.replace(/T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z$/, "T$1:$2:$3.$4Z"))
}

function noteIn(folder: string): string {
  return join(folder, "checked.json")
}
