import { createReadStream } from "node:fs"
import { createInterface } from "node:readline"
import { blobListIn } from "./folder.ts"

/** Bytes that a file is made of, as their row has them. */
export interface ListedBytes {
  key: string
  size: number
  sha256: string
}

/** The lines of a backup's list of bytes. Throws where one has another form. */
export async function* readBlobList(backup: string): AsyncGenerator<ListedBytes> {
  const path = blobListIn(backup)
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    const [key = "", size = "", sha256 = ""] = line.split("\t")
    if (!/^[0-9a-f/-]+$/.test(key) || !/^\d+$/.test(size) || !/^[0-9a-f]{64}$/.test(sha256)) {
      throw new Error(`${path} is damaged. Take another backup.`)
    }
    yield { key, size: Number(size), sha256 }
  }
}

/** Does the work for all, some at a time. The first error ends it, once what has begun is over. */
export async function eachOf<Item>(
  items: AsyncIterable<Item>,
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]()
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
