import { and, eq, isNotNull, lt, notExists } from "drizzle-orm"
import { blobs, files, uploads } from "#db/schema/files.ts"
import { isRefusal } from "../errors.ts"
import { startRecurring, type Recurring } from "../recurring.ts"
import type { Scope } from "../scope.ts"
import { discardBlob, discardUpload, removeNameless } from "./discard.ts"
import { nextExpiry } from "./expiry.ts"
import { finishUpload } from "./finish.ts"

type Sweep = Scope<"db" | "blobs" | "config" | "log" | "uploadLocks">

/** Milliseconds. */
const INTERVAL = 10 * 60 * 1000
/** Bytes that no row names, or that no file uses, may be somebody's that is at work. */
export const GRACE = 60 * 60 * 1000

/** Makes good, every ten minutes, what processes left that died. Any number of processes may do it at once. */
export function startSweeping(scope: Sweep): Recurring {
  return startRecurring((stopping) => sweep(scope, Date.now(), stopping), INTERVAL)
}

/** What is left when the process is stopping is for the next sweep. */
export async function sweep(scope: Sweep, now = Date.now(), stopping?: AbortSignal): Promise<void> {
  for (const part of [finishWhole, discardExpired, discardUnused, removeNamelessUnfinished]) {
    try {
      await part(scope, now, stopping)
    } catch (error) {
      scope.log.error({ err: error }, "the blob store could not be swept; the next sweep tries again")
    }
  }
}

/** Uploads whose process died after the last byte, and whose sender did not come back to ask. */
async function finishWhole(scope: Sweep, now: number, stopping?: AbortSignal) {
  const quiet = await scope.db
    .select()
    .from(uploads)
    .where(
      and(
        isNotNull(uploads.key),
        isNotNull(uploads.length),
        isNotNull(uploads.userId),
        lt(uploads.expiresAt, nextExpiry(scope.config, now - INTERVAL)),
      ),
    )
    .limit(1000)
  for (const { _id, key, length } of quiet) {
    if (stopping?.aborted) return
    if (key === null || length === null) continue
    const isWhole = (await scope.blobs.sizeOf(key)) === length
    if (isWhole) await finishAlone(scope, _id).catch((error: unknown) => tell(scope, error, _id))
  }
}

async function finishAlone(scope: Sweep, id: string) {
  const lock = await scope.uploadLocks.take(id)
  try {
    const [upload] = await scope.db.select().from(uploads).where(eq(uploads._id, id))
    if (!upload?.key || upload.length === null || upload.fileName === null) return
    await finishUpload(scope, {
      ...upload,
      key: upload.key,
      length: upload.length,
      fileName: upload.fileName,
    })
  } finally {
    await lock.release()
  }
}

function tell({ log }: Sweep, error: unknown, upload: string) {
  if (!isRefusal(error))
    log.error({ err: error, upload }, "an upload could not be finished; the sweep tries again")
}

async function discardExpired(scope: Sweep, now: number, stopping?: AbortSignal) {
  const expired = await scope.db
    .select({ id: uploads._id })
    .from(uploads)
    .where(lt(uploads.expiresAt, now))
    .limit(1000)
  for (const { id } of expired) {
    if (stopping?.aborted) return
    await discardUpload(scope, id)
  }
}

async function discardUnused(scope: Sweep, now: number, stopping?: AbortSignal) {
  const unused = await scope.db
    .select({ id: blobs._id })
    .from(blobs)
    .where(and(lt(blobs._creationTime, now - GRACE), isUnused(scope)))
    .limit(1000)
  for (const { id } of unused) {
    if (stopping?.aborted) return
    await discardBlob(scope, id)
  }
}

/** What was still being written when its upload was removed. */
async function removeNamelessUnfinished(scope: Sweep, now: number, stopping?: AbortSignal) {
  for await (const { key, modifiedAt } of scope.blobs.list("unfinished")) {
    if (stopping?.aborted) return
    if (modifiedAt < now - GRACE) await removeNameless(scope, key)
  }
}

/** Whether no file refers to the row of `blobs`. */
export function isUnused({ db }: Scope<"db">) {
  return notExists(db.select({ _id: files._id }).from(files).where(eq(files.storageId, blobs._id)))
}
