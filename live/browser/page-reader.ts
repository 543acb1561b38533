import type { Loaded } from "../protocol/contract.ts"
import { keyOf, type LiveClient } from "./client.ts"
import type { Collection } from "./collection.ts"
import type { PageSource } from "./pages.ts"

/** Milliseconds between two attempts to read a page, randomly up to twice as long. */
const RETRY = 3000

interface Read {
  collection: Collection
  attempts: number
}

/**
 * Pages in an order, or with a filter, that no live query has: each is read by its arguments, and
 * again when `readAgain` is called. They show the client's mutations.
 */
export function createPageReader(
  client: Pick<LiveClient, "hold">,
  readPage: (args: unknown) => Promise<Loaded>,
): PageSource {
  const reads = new Map<string, Read>()

  async function read(key: string, reading: Read) {
    const attempt = ++reading.attempts
    const isCurrent = () => reads.get(key) === reading && reading.attempts === attempt
    try {
      const page = await readPage(reading.collection.args)
      if (!isCurrent()) return
      reading.collection.adopt(page)
      reading.collection.announce()
    } catch {
      // The rows stay as they are.
      setTimeout(() => isCurrent() && void read(key, reading), RETRY * (1 + Math.random()))
    }
  }

  return {
    hold(loaded) {
      const key = keyOf(loaded)
      const { collection, release } = client.hold(loaded, false)
      const reading = { collection, attempts: 0 }
      reads.set(key, reading)
      // The first page has the rows of a loader; of others, the client may remember old ones.
      if (loaded.rows.length === 0) void read(key, reading)
      return {
        collection,
        release() {
          reads.delete(key)
          release()
        },
      }
    },
    /** One page after the other. Those that follow another end are read when they are entered. */
    async readAgain() {
      for (const [key, reading] of Array.from(reads)) if (reads.has(key)) await read(key, reading)
    },
  }
}
