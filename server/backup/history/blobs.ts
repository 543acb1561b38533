import { readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { gte } from "drizzle-orm"
import * as v from "valibot"
import type { Database } from "#db/client.ts"
import { blobs as rows } from "#db/schema/files.ts"
import type { Blobs } from "#server/ports/blobs.ts"
import { copyBlob } from "#server/backup/copy-blobs.ts"
import { eachOf } from "#server/backup/blob-list.ts"

/** Milliseconds by which a row may be older than the commit that shows it. */
const LATE = 10 * 60 * 1000

/** When it was first noticed that bytes have no row any more: milliseconds, by key. */
const Removed = v.record(v.string(), v.number())

/** The application's database, and its store. */
export interface Source {
  db: Database
  blobs: Blobs
}

/** The bytes of the files that the moments of a history have. */
export interface KeptBlobs {
  /** Copies the bytes of rows since the last call; of all rows at the first. */
  copyNew(scope: Source): Promise<void>
  /** Copies the bytes unless they are there, or unfinished. */
  copy(from: Blobs, key: string): Promise<void>
  /** Removes bytes that had no row before `since` already. */
  prune(scope: Pick<Source, "db">, since: number): Promise<void>
}

/** The folder of the bytes in an archive. */
export function historyBlobsIn(archive: string): string {
  return join(archive, "blobs")
}

/** `store` is that of `historyBlobsIn(archive)`. */
export async function openKeptBlobs(archive: string, store: Blobs): Promise<KeptBlobs> {
  const kept = new Set<string>()
  for await (const { key } of store.list("stored")) kept.add(key)
  const copying = new Map<string, Promise<void>>()
  let since = 0

  /** One writer at a time, as the store wants it. */
  function once(key: string, copy: () => Promise<boolean>): Promise<void> {
    if (kept.has(key)) return Promise.resolve()
    const running = copying.get(key)
    if (running) return running
    const work = async () => {
      // What a killed process left.
      await store.remove(key)
      if (await copy()) kept.add(key)
    }
    const begun = work().finally(() => copying.delete(key))
    copying.set(key, begun)
    return begun
  }

  return {
    async copyNew({ db, blobs }) {
      const begun = Date.now()
      const listed = await db
        .select({ key: rows.key, size: rows.size, sha256: rows.sha256 })
        .from(rows)
        .where(gte(rows._creationTime, since - LATE))
      // Bytes that are not there are lost already, which `npm run files -- check` tells, or have just
      // been removed.
      await eachOf(listed, (blob) => once(blob.key, () => copyBlob(blobs, store, blob)))
      since = begun
    },
    copy: (from, key) =>
      once(key, async () => {
        const bytes = await from.open(key)
        if (!bytes) return false
        try {
          await store.put(key, bytes as AsyncIterable<Uint8Array>, { limit: Number.MAX_SAFE_INTEGER })
          return true
        } finally {
          bytes.destroy()
        }
      }),
    async prune({ db }, before) {
      const listed = await db.select({ key: rows.key }).from(rows)
      const present = new Set(listed.map(({ key }) => key))
      const noted = await readRemoved(archive)
      const removed: v.InferOutput<typeof Removed> = {}
      for (const key of kept) if (!present.has(key)) removed[key] = noted[key] ?? Date.now()
      for (const [key, at] of Object.entries(removed)) {
        if (at >= before) continue
        await store.remove(key)
        kept.delete(key)
        delete removed[key]
      }
      await writeRemoved(archive, removed)
    },
  }
}

/** The store of the application, which copies bytes before it removes them. */
export function copyingRemoved(blobs: Blobs, kept: Pick<KeptBlobs, "copy">): Blobs {
  return {
    ...blobs,
    async remove(key) {
      await kept.copy(blobs, key)
      await blobs.remove(key)
    },
  }
}

async function readRemoved(archive: string): Promise<v.InferOutput<typeof Removed>> {
  const text = await readFile(noteIn(archive), "utf8").catch(() => "{}")
  // Without the times they are all kept for the whole window again.
  const removed = v.safeParse(v.pipe(v.string(), v.parseJson(), Removed), text)
  return removed.success ? removed.output : {}
}

async function writeRemoved(archive: string, removed: v.InferOutput<typeof Removed>) {
  await writeFile(`${noteIn(archive)}.new`, JSON.stringify(removed), { mode: 0o600, flush: true })
  await rename(`${noteIn(archive)}.new`, noteIn(archive))
}

function noteIn(archive: string): string {
  return join(archive, "removed.json")
}
