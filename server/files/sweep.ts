import { and, asc, eq, gt, isNotNull, lt, notExists, sql, type SQL } from "drizzle-orm"
import { blobs, files, uploads } from "#db/schema/files.ts"
import { eachRow } from "#server/each-row.ts"
import { isRefusal } from "#server/errors.ts"
import { startRecurring, type Recurring } from "#server/recurring.ts"
import type { Scope } from "#server/scope.ts"
import { forgetRepaired } from "./damage.ts"
import { discardBlob, discardUpload, removeNameless, removeRest } from "./discard.ts"
import { nextExpiry } from "./expiry.ts"
import { finishUpload } from "./finish.ts"

type Sweep = Scope<"db" | "blobs" | "config" | "log" | "uploadLocks">

/** Milliseconds. */
const INTERVAL = 10 * 60 * 1000
/**
 * Milliseconds for which bytes without a row or a file are kept, because a running request may have
 * just stored them.
 */
export const GRACE = 60 * 60 * 1000
/** Milliseconds. Joining the parts of the largest files may take a store hours. */
export const LONGEST_JOIN = 24 * 60 * 60 * 1000

/**
 * Cleans up after crashed processes, every ten minutes. Several processes may sweep concurrently.
 */
export function startSweeping(scope: Sweep): Recurring {
  return startRecurring((stopping) => sweep(scope, Date.now(), stopping), INTERVAL)
}

/** Stops early when the process is stopping; the next sweep continues. */
export async function sweep(scope: Sweep, now = Date.now(), stopping?: AbortSignal): Promise<void> {
  const parts = [
    finishWhole,
    discardExpired,
    discardBeyondLimit,
    discardUnused,
    removeUnfinishedOfNobody,
    abandonJoins,
    forgetRepaired,
  ]
  for (const part of parts) {
    try {
      await part(scope, now, stopping)
    } catch (error) {
      scope.log.error({ err: error }, "could not sweep the blob store; the next sweep will try again")
    }
  }
}

/** Uploads whose process died after the last byte, and whose sender did not return. */
async function finishWhole(scope: Sweep, now: number, stopping?: AbortSignal) {
  const isQuiet = and(
    isNotNull(uploads.key),
    isNotNull(uploads.length),
    isNotNull(uploads.userId),
    lt(uploads.expiresAt, nextExpiry(scope.config, now - INTERVAL)),
  )
  for await (const { _id, key, length } of uploadsWhere(scope, isQuiet)) {
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
    log.error({ err: error, upload }, "could not finish an upload; the sweep will try again")
}

async function discardExpired(scope: Sweep, now: number, stopping?: AbortSignal) {
  for await (const { _id } of uploadsWhere(scope, lt(uploads.expiresAt, now))) {
    if (stopping?.aborted) return
    await discardUpload(scope, _id, { ifExpiredBefore: now })
  }
}

/**
 * If unfinished uploads hold more than their limit, those that received nothing for an hour are
 * given up: the person who holds most first, and of their uploads the oldest.
 */
async function discardBeyondLimit(scope: Sweep, now: number, stopping?: AbortSignal) {
  const { db, config } = scope
  const [all] = await db
    .select({ held: sql<number>`coalesce(sum(${uploads.reserved}), 0)::float8` })
    .from(uploads)
    .where(isNotNull(uploads.key))
  let excess = (all?.held ?? 0) - config.files.unfinishedLimit
  if (excess <= 0) return
  const isQuiet = and(
    isNotNull(uploads.key),
    isNotNull(uploads.length),
    lt(uploads._creationTime, now - GRACE),
    lt(uploads.expiresAt, nextExpiry(config, now - GRACE)),
  )
  const ofOne = sql`sum(${uploads.reserved}) over (partition by ${uploads.userId})`
  const quiet = await db
    .select({ _id: uploads._id, reserved: uploads.reserved, expiresAt: uploads.expiresAt })
    .from(uploads)
    .where(isQuiet)
    .orderBy(sql`${ofOne} desc`, asc(uploads.expiresAt))
  for (const { _id, reserved, expiresAt } of quiet) {
    if (stopping?.aborted || excess <= 0) return
    await discardUpload(scope, _id, { ifExpiredBefore: expiresAt + 1 })
    excess -= reserved
  }
}

async function discardUnused(scope: Sweep, now: number, stopping?: AbortSignal) {
  const isOld = and(lt(blobs._creationTime, now - GRACE), isUnused(scope))
  const unused = eachRow((after, most) =>
    scope.db
      .select({ _id: blobs._id })
      .from(blobs)
      .where(and(isOld, after === undefined ? undefined : gt(blobs._id, after)))
      .orderBy(asc(blobs._id))
      .limit(most),
  )
  for await (const { _id } of unused) {
    if (stopping?.aborted) return
    await discardBlob(scope, _id)
  }
}

/**
 * Bytes that were still being written when their upload was removed, and unfinished parts of stored
 * blobs.
 */
async function removeUnfinishedOfNobody(scope: Sweep, now: number, stopping?: AbortSignal) {
  for await (const { key, modifiedAt } of scope.blobs.list("unfinished")) {
    if (stopping?.aborted) return
    if (modifiedAt >= now - GRACE) continue
    if (!(await removeNameless(scope, key))) await removeRest(scope, key)
  }
}

async function abandonJoins(scope: Sweep, now: number, stopping?: AbortSignal) {
  for await (const { beganAt, abandon } of scope.blobs.listJoins()) {
    if (stopping?.aborted) return
    if (beganAt < now - LONGEST_JOIN) await abandon()
  }
}

function uploadsWhere({ db }: Sweep, condition: SQL | undefined) {
  return eachRow((after, most) =>
    db
      .select()
      .from(uploads)
      .where(and(condition, after === undefined ? undefined : gt(uploads._id, after)))
      .orderBy(asc(uploads._id))
      .limit(most),
  )
}

/** Whether no file refers to the row of `blobs`. */
export function isUnused({ db }: Scope<"db">) {
  return notExists(db.select({ _id: files._id }).from(files).where(eq(files.storageId, blobs._id)))
}
