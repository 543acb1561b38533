import { setTimeout as wait } from "node:timers/promises"
import { buffer } from "node:stream/consumers"
import { and, desc, eq, gt, gte, lt, sql } from "drizzle-orm"
import { blobs, files, retypedFiles } from "#db/schema/files.ts"
import { isRefusal } from "#server/errors.ts"
import { startOnce } from "#server/recurring.ts"
import type { Scope } from "#server/scope.ts"
import { readStored } from "./read-stored.ts"
import { detectType, SAMPLE_SIZE, UNKNOWN } from "./types.ts"

type Retyping = Scope<"db" | "blobs" | "log">

/** Rows of one query. */
const AT_ONCE = 100
/** Milliseconds between two, so that the store and the database have time for others. */
const PAUSE = 1000
/** Milliseconds. A file may be committed that long after its row was created. */
const LONGEST_COMMIT = 60 * 60 * 1000

/**
 * Detects again what kind of file it is where earlier versions knew none, such as text that is not UTF-8.
 * Several processes may run it.
 */
export function startRetyping(scope: Retyping) {
  return startOnce(
    (stopping) => retypeFiles(scope, { stopping }),
    (error) =>
      scope.log.error(
        { err: error },
        "could not detect the types of earlier files; will continue at the next start",
      ),
  )
}

/**
 * The newest first. Reads the beginning of each, once: what was looked at is noted, and the next start
 * looks at what came since, because an earlier version may have uploaded it.
 */
export async function retypeFiles(
  scope: Retyping,
  { stopping, pause = PAUSE }: { stopping?: AbortSignal; pause?: number } = {},
): Promise<void> {
  const [noted] = await scope.db.select().from(retypedFiles)
  const until = Date.now() - LONGEST_COMMIT
  for (let last: string | undefined; !stopping?.aborted;) {
    const rows = await scope.db
      .select({
        _id: files._id,
        fileName: files.fileName,
        size: files.size,
        key: blobs.key,
        sha256: blobs.sha256,
      })
      .from(files)
      .innerJoin(blobs, eq(blobs._id, files.storageId))
      .where(
        and(
          eq(files.mimeType, UNKNOWN),
          gt(files.size, 0),
          gte(files._creationTime, noted?.until ?? 0),
          last === undefined ? undefined : lt(files._id, last),
        ),
      )
      .orderBy(desc(files._id))
      .limit(AT_ONCE)
    for (const row of rows) {
      if (stopping?.aborted) return
      await retype(scope, row)
    }
    last = rows.at(-1)?._id
    if (rows.length < AT_ONCE) return noteRetyped(scope, until)
    await wait(pause, undefined, { signal: stopping, ref: false })
  }
}

async function noteRetyped({ db }: Retyping, until: number) {
  await db
    .insert(retypedFiles)
    .values({ until })
    .onConflictDoUpdate({
      target: retypedFiles.place,
      set: { until: sql`greatest(${retypedFiles.until}, excluded.until)` },
    })
}

async function retype(scope: Retyping, file: Parameters<typeof readStored>[1] & { _id: string }) {
  try {
    const beginning = await buffer(await readStored(scope, file, { start: 0, end: SAMPLE_SIZE - 1 }))
    const mimeType = await detectType(beginning, file.fileName)
    if (mimeType === UNKNOWN) return
    await scope.db
      .update(files)
      .set({ mimeType })
      .where(and(eq(files._id, file._id), eq(files.mimeType, UNKNOWN)))
  } catch (error) {
    // Its bytes are missing or damaged, which is reported.
    if (!isRefusal(error)) throw error
  }
}
