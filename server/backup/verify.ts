import { pipeline } from "node:stream/promises"
import { createGunzip } from "node:zlib"
import type { Blobs } from "#server/ports/blobs.ts"
import { eachOf, readBlobList, type ListedBytes } from "./blob-list.ts"
import { digesting, holds } from "./digest.ts"
import { BLOB_LIST, tableFile } from "./folder.ts"
import { readManifest, type Manifest, type WrittenTable } from "./manifest.ts"
import { readFrom, type StoredBackup } from "./stored-backup.ts"

/**
 * Reads a whole backup and returns its manifest. With `stored`, which is an encrypted backup that
 * `backup` decrypts, the bytes of files are only compared as they are stored there. Throws one
 * error that names everything missing or damaged.
 */
export async function verifyBackup(backup: StoredBackup, stored?: StoredBackup): Promise<Manifest> {
  const manifest = await readManifest(backup)
  const problems: string[] = []
  for (const table of manifest.tables) {
    const path = `${backup.at}/${tableFile(table)}`
    const found = await digestOf(readTable(backup, table))
    if (found === null) problems.push(`${path} is missing, or cannot be read.`)
    else if (found.sha256 !== table.sha256 || found.lines !== table.rows) problems.push(`${path} is damaged.`)
  }
  const list = await digestOf(readFrom(backup, BLOB_LIST))
  if (list?.sha256 !== manifest.blobs.sha256)
    problems.push(`${backup.at}/${BLOB_LIST} is missing or damaged.`)
  else {
    const blobs = stored ? readBlobList(stored) : listKept(backup, manifest)
    problems.push(...(await findMissing(blobs, (stored ?? backup).kept)))
  }
  if (problems.length > 0) throw new Error(describeProblems(backup.at, problems))
  return manifest
}

/** A sentence for each blob that the store does not have as it is listed. */
export async function findMissing(
  listed: AsyncIterable<ListedBytes>,
  kept: Pick<Blobs, "open">,
): Promise<string[]> {
  const problems: string[] = []
  await eachOf(listed, async (blob) => {
    if (!(await holds(kept, blob))) problems.push(`blobs/${blob.key} is missing or damaged.`)
  })
  return problems
}

/** The rows of a table, in COPY's text format. */
export async function* readTable(
  backup: StoredBackup,
  table: Pick<WrittenTable, "schema" | "name">,
): AsyncGenerator<Uint8Array> {
  const plain = createGunzip()
  // An error of the file itself also ends the reading.
  pipeline(readFrom(backup, tableFile(table)), plain).catch((error: Error) => plain.destroy(error))
  yield* plain as AsyncIterable<Uint8Array>
}

/** The blobs that the backup contains. */
export async function* listKept(backup: StoredBackup, { blobs }: Manifest): AsyncGenerator<ListedBytes> {
  const lost = new Set(blobs.lost)
  for await (const blob of readBlobList(backup)) if (!lost.has(blob.key)) yield blob
}

/** Null if they cannot be read. */
export async function digestOf(bytes: AsyncIterable<Uint8Array>) {
  try {
    const read = digesting(bytes)
    for await (const _ of read);
    return read.digest()
  } catch {
    return null
  }
}

const MOST_SHOWN = 20

export function describeProblems(at: string, problems: string[]) {
  const shown = problems.toSorted().slice(0, MOST_SHOWN)
  const rest = problems.length > MOST_SHOWN ? [`and ${problems.length - MOST_SHOWN} more`] : []
  const lines = [...shown, ...rest].map((line) => `  ${line}`)
  return `${at} is not whole. Nothing was changed; take another backup.\n${lines.join("\n")}`
}
