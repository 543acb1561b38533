import { and, eq, gt, isNotNull } from "drizzle-orm"
import { uploads } from "#db/schema/files.ts"
import { BadRequest, Conflict, Gone, isRefusal, NotFound, TooLarge, type Refusal } from "#server/errors.ts"
import { freeMemory } from "#server/transport/spent-memory.ts"
import type { Scope } from "#server/scope.ts"
import { requireEditor } from "#server/spaces/access.ts"
import { ownIn } from "#server/users/access.ts"
import { giveUpUpload, removeNameless } from "./discard.ts"
import { nextExpiry, SPENT, UNTIL_FIRST_BYTE } from "./expiry.ts"
import { finishUpload } from "./finish.ts"
import { cleanFileName } from "./names.ts"
import type { Earlier, Once } from "#server/operations/once.ts"
import { reserveSpace } from "./reserve-space.ts"
import type { UploadLock } from "./upload-locks.ts"
import type { Receiving } from "./upload-progress.ts"
import { leaseToEdit } from "./access-lease.ts"

type Uploading = Scope<
  "blobs" | "config" | "db" | "runningRequests" | "uploadLocks" | "uploadProgress" | "viewer"
>

/** The progress of an upload. */
export interface Progress {
  /** Bytes that are stored durably. */
  offset: number
  /** Milliseconds since the epoch. */
  expiresAt: number
  /** Present once all bytes have arrived. */
  fileId: string | null
}

export interface Announced {
  /** The name that the sender gave. */
  fileName: string
  /** Bytes. */
  length: number
  /** Returned to the sender unchanged. */
  metadata: string
  /** A personal file without it. */
  spaceId?: string | undefined
  /** With it, what is announced again is the same upload. */
  once?: Once | undefined
}

/** The body of one request. */
export interface Part {
  offset: number
  body: ReadableStream<Uint8Array>
  /** Bytes that the sender announced, if any. */
  size: number | null
}

/**
 * Reserves space for a file whose bytes arrive through `receivePart`. With a key that came before,
 * resolves with that upload as it is now. Throws `TooLarge`, `OutOfSpace`, `TooMany`, `NotFound` or
 * `Forbidden` for a space, and `Unprocessable` or `Conflict` for a key.
 */
export async function createUpload(
  scope: Uploading,
  { fileName, length, metadata, spaceId, once }: Announced,
): Promise<Progress & { _id: string; isNew: boolean }> {
  const name = cleanFileName(fileName)
  const expiresAt = Date.now() + UNTIL_FIRST_BYTE
  const row = { expiresAt, length, metadata, fileName: name, spaceId: spaceId ?? null }
  const reserved = await reserveSpace(scope, name, { exactly: length }, row, once)
  if ("earlier" in reserved) return foundBefore(scope, reserved.earlier)
  const { _id } = reserved
  if (length > 0) return { _id, offset: 0, expiresAt, fileId: null, isNew: true }
  const progress = await withUpload(scope, _id, (upload) => progressOf(scope, upload, 0))
  return { _id, ...progress, isNew: true }
}

async function foundBefore(scope: Uploading, earlier: Earlier) {
  // The same request leads to an upload in parts.
  if (!("uploadId" in earlier)) throw new Error("A key of a resumable upload leads to no upload.")
  return { _id: earlier.uploadId, ...(await findProgress(scope, earlier.uploadId)), isNew: false }
}

/**
 * Also finishes an upload whose last byte arrived right before its process died. Throws `NotFound`,
 * `Gone`, `Locked`, and `Forbidden` if the viewer may no longer add to its space.
 */
export async function findProgress(
  scope: Uploading,
  id: string,
): Promise<Progress & { length: number; metadata: string }> {
  const { length, metadata, expiresAt, fileId } = await findUpload(scope, id)
  if (fileId) return { offset: length, length, metadata, expiresAt, fileId }
  const progress = await withUpload(scope, id, async (upload) =>
    progressOf(scope, upload, await scope.blobs.sizeOf(upload.key)),
  )
  return { ...progress, length, metadata }
}

/**
 * Stores what arrives, and after the last byte the file. What arrived before an error is kept.
 * Throws `NotFound`, `Gone`, `Locked`, `Conflict` if the offset is not the end of the upload,
 * `TooLarge` for more bytes than were first announced, `OutOfSpace`, `BadRequest` if the body breaks
 * off, and `Forbidden` or `NotFound` if the viewer loses the right to add to its space.
 */
export async function receivePart(scope: Uploading, id: string, part: Part): Promise<Progress> {
  const found = await findUpload(scope, id)
  const { length } = found
  const whenFinished = (upload: Upload) => {
    if (part.offset !== length || part.size !== 0) throw notThere(part.offset, length)
    return wholeOf(upload)
  }
  if (found.fileId) return whenFinished(found)
  const receive = async (upload: OpenUpload, lock: UploadLock) => {
    const stored = await scope.blobs.sizeOf(upload.key)
    if (part.offset !== stored) throw notThere(part.offset, stored)
    if (part.size !== null && part.size > length - stored) throw tooMuch(upload)
    await prolong(scope, upload)
    const receiving = scope.uploadProgress.follow(
      { ...upload, userId: scope.viewer.user._id, size: length },
      stored,
    )
    let how: "over" | "paused" = "over"
    try {
      const offset = await append(scope, upload, part, lock, receiving)
      const progress = await progressOf(scope, upload, offset)
      if (offset < length) how = "paused"
      return progress
    } finally {
      receiving?.end(how)
    }
  }
  return withUpload(scope, id, receive, whenFinished)
}

/**
 * Frees the space immediately. Throws `NotFound`, and `Conflict` if the upload is already a file.
 */
export async function cancelUpload(scope: Uploading, id: string): Promise<void> {
  const upload = await findUpload(scope, id, { expired: "too" })
  if (upload.fileId) throw new Conflict("upload-complete")
  await giveUpUpload(scope, id)
  await scope.uploadLocks.cancel(id)
  scope.uploadProgress.forget(id)
}

interface Upload {
  _id: string
  fileName: string
  length: number
  metadata: string
  expiresAt: number
  fileId: string | null
  spaceId: string | null
}

interface OpenUpload extends Upload {
  key: string
  /** The value of `performance.now()` before the viewer's right to continue it was checked. */
  askedAt: number
}

const isOwn = ownIn(uploads)

/** The viewer's own. Nobody else's is ever found. */
async function findUpload(
  { db, viewer }: Scope<"db" | "viewer">,
  id: string,
  { expired = "refused" }: { expired?: "refused" | "too" } = {},
): Promise<Upload & { key: string | null }> {
  const [row] = await db
    .select()
    .from(uploads)
    .where(and(isOwn({ viewer }, id), isNotNull(uploads.length)))
  if (!row || row.length === null || row.fileName === null) throw new NotFound("upload")
  // A cancelled upload only frees space.
  if (expired === "refused") {
    if (row.spaceId !== null) await requireEditor({ db, viewer }, row.spaceId)
    if (row.expiresAt < Date.now()) throw new Gone("upload-expired")
  }
  return { ...row, length: row.length, fileName: row.fileName, metadata: row.metadata ?? "" }
}

/** Runs `work` while no other request has the upload, or `whenFinished` if it has become a file. */
async function withUpload(
  scope: Uploading,
  id: string,
  work: (upload: OpenUpload, lock: UploadLock) => Promise<Progress>,
  whenFinished: (upload: Upload) => Progress = wholeOf,
): Promise<Progress> {
  const lock = await scope.uploadLocks.take(id)
  let key: string | null = null
  try {
    const askedAt = performance.now()
    const upload = await findUpload(scope, id)
    ;({ key } = upload)
    if (key === null) return whenFinished(upload)
    return await work({ ...upload, key, askedAt }, lock)
  } catch (error) {
    if (key === null || isRefusal(error)) throw error
    // The upload may have been cancelled during the work.
    await requireThere(scope, { _id: id, key })
    throw error
  } finally {
    await lock.release()
  }
}

function wholeOf({ length, expiresAt, fileId }: Upload): Progress {
  return { offset: length, expiresAt, fileId }
}

async function progressOf(scope: Uploading, upload: OpenUpload, offset: number): Promise<Progress> {
  if (offset < upload.length) return { offset, expiresAt: upload.expiresAt, fileId: null }
  const { _id: fileId } = await finishUpload(scope, upload)
  return { offset, expiresAt: upload.expiresAt, fileId }
}

/**
 * Extends the expiry, at most once a minute, because each extension is a commit. Not of an upload
 * that `announce_lost_access` or `free_usage_of_space` has ended.
 */
async function prolong({ db, config }: Scope<"config" | "db">, upload: OpenUpload) {
  const expiresAt = nextExpiry(config)
  if (upload.expiresAt > expiresAt - SPENT) return
  // It is over if its space was closed to the sender in the meantime.
  await db
    .update(uploads)
    .set({ expiresAt })
    .where(and(eq(uploads._id, upload._id), gt(uploads.expiresAt, 0)))
  upload.expiresAt = expiresAt
}

/** Resolves with the upload's new size. */
async function append(
  scope: Uploading,
  upload: OpenUpload,
  { body, offset }: Part,
  lock: UploadLock,
  receiving: Receiving | null,
): Promise<number> {
  const end: { why: Refusal | null } = { why: null }
  const lease = leaseToEdit(scope, upload.spaceId, upload.askedAt)
  const signal = lease ? AbortSignal.any([lock.signal, lease.signal]) : lock.signal
  const touch = (bytes: number) => {
    lock.touch()
    receiving?.add(bytes)
  }
  const bytes = takeBytes(body, upload.length - offset, { signal, touch }, end)
  const size = await scope.blobs.append(upload.key, offset, bytes).finally(() => lease?.release())
  if (end.why?.status === 413) {
    // Otherwise the file would look complete, with the right size and the wrong bytes.
    await giveUpUpload(scope, upload._id)
    throw tooMuch(upload)
  }
  await requireThere(scope, upload)
  await prolong(scope, upload)
  if (end.why && size < upload.length) throw end.why
  return size
}

/** The concurrent deletion removed the bytes of that moment, and none that arrived since. */
async function requireThere(scope: Uploading, { _id, key }: Pick<OpenUpload, "_id" | "key">) {
  if (await scope.db.$count(uploads, eq(uploads._id, _id))) return
  await removeNameless(scope, key)
  throw removed()
}

/**
 * Reads until the body ends or breaks off, has too many bytes, or this request loses the upload:
 * `end` says which.
 */
async function* takeBytes(
  body: ReadableStream<Uint8Array>,
  allowed: number,
  lock: { signal: AbortSignal; touch: (bytes: number) => void },
  end: { why: Refusal | null },
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  const stop = () => void reader.cancel().catch(() => {})
  lock.signal.addEventListener("abort", stop)
  if (lock.signal.aborted) stop()
  try {
    for (let left = allowed; ;) {
      const { done, value } = await reader.read()
      if (done) break
      lock.touch(value.byteLength)
      left -= value.byteLength
      if (left < 0) {
        end.why = new TooLarge("upload-body-too-long")
        return
      }
      yield value
      freeMemory(value)
    }
    if (lock.signal.aborted) end.why = lock.signal.reason as Refusal
  } catch {
    end.why = new BadRequest("upload-body-broken")
  } finally {
    lock.signal.removeEventListener("abort", stop)
    stop()
  }
}

function notThere(offset: number, end: number) {
  return new Conflict("upload-offset-wrong", { end, offset })
}

function tooMuch({ fileName, length }: Upload) {
  return new TooLarge("upload-part-too-long", { announced: length, fileName })
}

function removed() {
  return new Gone("upload-cancelled")
}
