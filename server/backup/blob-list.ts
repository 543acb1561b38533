import { createInterface } from "node:readline"
import { Readable } from "node:stream"
import { BLOB_LIST } from "./folder.ts"
import { readFrom, type StoredBackup } from "./stored-backup.ts"

/** The bytes of a file, as their row describes them. */
export interface ListedBytes {
  key: string
  size: number
  sha256: string
}

/** Parses the lines of a backup's list of blobs. Throws for a malformed one. */
export async function* readBlobList(backup: StoredBackup): AsyncGenerator<ListedBytes> {
  const input = Readable.from(readFrom(backup, BLOB_LIST))
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    const [key = "", size = "", sha256 = ""] = line.split("\t")
    if (!/^[0-9a-f/-]+$/.test(key) || !/^\d+$/.test(size) || !/^[0-9a-f]{64}$/.test(sha256)) {
      throw new Error(`${backup.at}/${BLOB_LIST} is damaged. Use another backup.`)
    }
    yield { key, size: Number(size), sha256 }
  }
}

/** A line of such a list. */
export function listLine({ key, size, sha256 }: ListedBytes): string {
  return `${key}\t${size}\t${sha256}\n`
}

/**
 * Does the work for all, several at a time. After the first error, what has started is finished and
 * nothing else starts.
 */
export async function eachOf<Item>(
  items: AsyncIterable<Item> | readonly Item[],
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items.values()
  let failure: { error: unknown } | undefined
  const work = async () => {
    while (!failure) {
      try {
        const { done, value } = await iterator.next()
        if (done) return
        await act(value)
      } catch (error) {
        failure ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  if (!failure) return
  await iterator.return?.()
  throw failure.error
}

const AT_ONCE = 4
