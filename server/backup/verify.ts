import { createReadStream } from "node:fs"
import { pipeline } from "node:stream/promises"
import { createGunzip } from "node:zlib"
import type { Blobs } from "#server/ports/blobs.ts"
import { eachOf, readBlobList, type ListedBytes } from "./blob-list.ts"
import { digesting, holds } from "./digest.ts"
import { blobListIn, tableIn } from "./folder.ts"
import { readManifest, type Manifest, type WrittenTable } from "./manifest.ts"

/**
 * Reads a whole backup and returns its manifest. Throws one error that names everything missing or
 * damaged.
 */
export async function verifyBackup(folder: string, kept: Blobs): Promise<Manifest> {
  const manifest = await readManifest(folder)
  const problems: string[] = []
  for (const table of manifest.tables) {
    const path = tableIn(folder, table)
    const found = await digestOf(readTable(folder, table))
    if (found === null) problems.push(`${path} is missing, or cannot be read.`)
    else if (found.sha256 !== table.sha256 || found.lines !== table.rows) problems.push(`${path} is damaged.`)
  }
  const list = await digestOf(createReadStream(blobListIn(folder)))
  if (list?.sha256 !== manifest.blobs.sha256) problems.push(`${blobListIn(folder)} is missing or damaged.`)
  else {
    await eachOf(listKept(folder, manifest), async (blob) => {
      if (!(await holds(kept, blob))) problems.push(`blobs/${blob.key} is missing or damaged.`)
    })
  }
  if (problems.length > 0) throw new Error(describeProblems(folder, problems))
  return manifest
}

/** The rows of a table, in COPY's text format. */
export async function* readTable(
  folder: string,
  table: Pick<WrittenTable, "schema" | "name">,
): AsyncGenerator<Uint8Array> {
  const plain = createGunzip()
  // An error of the file itself also ends the reading.
  pipeline(createReadStream(tableIn(folder, table)), plain).catch((error: Error) => plain.destroy(error))
  yield* plain as AsyncIterable<Uint8Array>
}

/** The blobs that the backup contains. */
export async function* listKept(folder: string, { blobs }: Manifest): AsyncGenerator<ListedBytes> {
  const lost = new Set(blobs.lost)
  for await (const blob of readBlobList(folder)) if (!lost.has(blob.key)) yield blob
}

async function digestOf(bytes: AsyncIterable<Uint8Array>) {
  try {
    const read = digesting(bytes)
    for await (const _ of read);
    return read.digest()
  } catch {
    return null
  }
}

const MOST_SHOWN = 20

function describeProblems(folder: string, problems: string[]) {
  const shown = problems.toSorted().slice(0, MOST_SHOWN)
  const rest = problems.length > MOST_SHOWN ? [`and ${problems.length - MOST_SHOWN} more`] : []
  const lines = [...shown, ...rest].map((line) => `  ${line}`)
  return `${folder} is not whole. Nothing was changed; take another backup.\n${lines.join("\n")}`
}
