import { Conflict, Forbidden, NotFound } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { commitFile } from "./commit.ts"
import type { FileSummary } from "./contract.ts"
import { giveUpUpload, removeNameless } from "./discard.ts"
import { detectType, SAMPLE_SIZE } from "./types.ts"

export interface WholeUpload {
  _id: string
  key: string
  fileName: string
  /** Bytes. All of them are stored. */
  length: number
}

/**
 * Turns an upload whose bytes have all arrived into a file. Throws `Conflict` if it was given up in
 * the meantime, and `NotFound` or `Forbidden`, after giving it up, if its user may no longer add to
 * its space.
 */
export async function finishUpload(
  scope: Scope<"db" | "blobs">,
  { _id, key, fileName, length }: WholeUpload,
): Promise<FileSummary> {
  const stored = length > 0 ? await scope.blobs.finish(key) : await storeNothing(scope, key)
  if (stored.size !== length) throw new Error(`Upload ${_id} has ${stored.size} of ${length} bytes.`)
  const mimeType = await detectType(await readBeginning(scope, key, length), fileName)
  try {
    return await commitFile(scope, _id, stored, { fileName, mimeType })
  } catch (error) {
    // The bytes may have been moved to their final place after the check.
    if (error instanceof Conflict) await removeNameless(scope, key)
    if (error instanceof NotFound || error instanceof Forbidden) await giveUpUpload(scope, _id)
    throw error
  }
}

/** Whether an earlier attempt got as far. */
async function storeNothing({ blobs }: Scope<"blobs">, key: string) {
  await blobs.remove(key)
  return blobs.put(key, nothing(), { limit: 0 })
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

async function readBeginning({ blobs }: Scope<"blobs">, key: string, length: number): Promise<Uint8Array> {
  if (length === 0) return new Uint8Array()
  const stream = await blobs.open(key, { start: 0, end: Math.min(SAMPLE_SIZE, length) - 1 })
  if (!stream) throw new Error(`The bytes that were just stored are missing from the blob store: ${key}.`)
  const chunks: Uint8Array[] = []
  for await (const chunk of stream as AsyncIterable<Uint8Array>) chunks.push(chunk)
  return Buffer.concat(chunks)
}
