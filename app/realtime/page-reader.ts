import type { Loaded } from "#server/realtime/contract.ts"
import type { Collection } from "./collection.ts"

/** Reads a page by its arguments, in an order or with a filter that no live query has. */
export type ReadPage = (args: unknown) => Promise<Loaded>

/** Milliseconds between two attempts to read a page, randomly up to twice as long. */
const RETRY = 3000

/** Reads the collections that no subscription keeps live. */
export function createPageReader(collections: ReadonlyMap<string, Collection>) {
  const reads = new Map<string, { readPage: ReadPage; attempts: number }>()

  async function read(key: string) {
    const reading = reads.get(key)
    const collection = collections.get(key)
    if (!reading || !collection) return
    const attempt = ++reading.attempts
    const isCurrent = () => reads.get(key) === reading && reading.attempts === attempt
    try {
      const page = await reading.readPage(collection.args)
      if (!isCurrent()) return
      collection.adopt(page)
      collection.announce()
    } catch {
      // The rows stay as they are.
      setTimeout(() => isCurrent() && void read(key), RETRY * (1 + Math.random()))
    }
  }

  return {
    has: (key: string) => reads.has(key),
    begin(key: string, readPage: ReadPage) {
      if (reads.has(key)) return
      reads.set(key, { readPage, attempts: 0 })
      if (!collections.get(key)?.isRead) void read(key)
    },
    end: (key: string) => reads.delete(key),
    /** Reads the pages of a query again, one after the other. */
    async readAgain(query: string) {
      // Pages that follow another end are read when they are entered.
      const keys = [...reads.keys()].filter((key) => collections.get(key)?.query === query)
      for (const key of keys) await read(key)
    },
  }
}
