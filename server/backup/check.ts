import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as v from "valibot"
import { loadDump, refuseUnknownSchema } from "#db/dump/load.ts"
import { migrate } from "#db/migrate.ts"
import { withScratchDatabase } from "#db/scratch-database.ts"
import type { Blobs } from "#server/ports/blobs.ts"
import { isBackupName, listBackups } from "./folder.ts"
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
 * Checks a whole backup, notes the result in its folder, and returns it. `proof` is the wanted one:
 * without the right to create a database, the files are only read. Throws an error that names what
 * is missing or damaged.
 */
export async function checkBackup(
  folder: string,
  kept: Blobs,
  { databaseUrl, migrations, proof }: { databaseUrl: string; migrations: string; proof: Proof },
): Promise<Proof> {
  const manifest = await verifyBackup(folder, kept)
  refuseUnknownSchema(manifest.schema, migrations)
  const isRestored =
    proof === "restored" &&
    (await withScratchDatabase(databaseUrl, async (url) => {
      const open = (table: (typeof manifest.tables)[number]) => readTable(folder, table)
      await loadDump(url, migrations, { ...manifest, open }, () => Promise.resolve())
      await migrate(url, migrations)
    }))
  const reached = isRestored ? "restored" : "read"
  const note: v.InferOutput<typeof Checked> = { at: new Date().toISOString(), proof: reached }
  await writeFile(noteIn(folder), JSON.stringify(note), { mode: 0o600, flush: true })
  return reached
}

/** The newest backup of a folder that was checked; null if there is none. */
export async function findChecked(
  directory: string,
): Promise<{ name: string; takenAt: number; proof: Proof } | null> {
  for (const name of (await listBackups(directory)).toReversed()) {
    const note = await readFile(noteIn(join(directory, name)), "utf8").catch(() => null)
    const checked = note === null ? null : v.safeParse(v.pipe(v.string(), v.parseJson(), Checked), note)
    if (checked?.success) return { name, takenAt: timeIn(name), proof: checked.output.proof }
  }
  return null
}

/** The time in the name of a backup. Milliseconds since the epoch. */
export function timeIn(name: string): number {
  if (!isBackupName(name)) throw new Error(`${name} is not the name of a backup.`)
  return Date.parse(name.replace(/T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z$/, "T$1:$2:$3.$4Z"))
}

function noteIn(folder: string): string {
  return join(folder, "checked.json")
}
