import { createHash } from "node:crypto"
import { eq } from "drizzle-orm"
import { uploads } from "#db/schema/files.ts"
import { BadRequest, Conflict, isRefusal } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { commitFile, givenUp, type StoredOnce } from "./commit.ts"
import type { FileSummary, Place } from "./contract.ts"
import { discardUpload, removeNameless } from "./discard.ts"
import { REQUEST_LEASE } from "./expiry.ts"
import { cleanFileName } from "./names.ts"
import { otherRequest, type Once } from "#server/operations/once.ts"
import { overQuota, reserveSpace, tooLarge, type AnnouncedSize } from "./reserve-space.ts"
import { leaseToEdit, untilAborted } from "./access-lease.ts"
import { detectType, SAMPLE_SIZE } from "./types.ts"

export interface IncomingFile {
  /** The name that the sender gave. */
  fileName: string
  bytes: AsyncIterable<Uint8Array>
  size: AnnouncedSize
  /** When the sender last changed the bytes, in milliseconds since the epoch. */
  modifiedAt?: number | undefined
  /** With it, what is sent again is stored once. */
  once?: Once | undefined
}

type Uploading = Scope<
  "db" | "blobs" | "config" | "log" | "process" | "runningRequests" | "uploadProgress" | "viewer"
>

type Reserved = Exclude<Awaited<ReturnType<typeof reserveSpace>>, { earlier: unknown }>

/** Milliseconds. */
const RENEWAL_INTERVAL = 60_000

/**
 * Receives one file in one request, as a personal one or into a space. Its quota is reserved before
 * the first byte, its bytes are durable before its row is written, and if anything fails in between,
 * nothing remains. Throws `TooLarge`, `OutOfSpace` beyond the quota of who pays, `BadRequest` if the
 * number of bytes is not the announced one, and `NotFound` or `Forbidden` for a space, also when the viewer loses the right
 * to add to it while bytes arrive. With a key, what has arrived before is compared and not stored
 * again: throws `Unprocessable` for other bytes, and `Conflict` while the first are arriving.
 */
export async function uploadFile(
  scope: Uploading,
  { fileName, bytes, size, modifiedAt, once }: IncomingFile,
  { spaceId }: Place = {},
): Promise<FileSummary> {
  const name = cleanFileName(fileName)
  const askedAt = performance.now()
  const row = { expiresAt: leaseEnd(), spaceId: spaceId ?? null, process: scope.process }
  const upload = await reserveSpace(scope, name, size, row, once)
  if ("earlier" in upload) return storedBefore(upload.earlier, bytes)
  const renewing = renewLease(scope, upload._id)
  const lease = leaseToEdit(scope, spaceId ?? null, askedAt)
  const progress = scope.uploadProgress.follow(
    {
      _id: upload._id,
      userId: scope.viewer.user._id,
      spaceId: spaceId ?? null,
      fileName: name,
      size: "exactly" in size ? size.exactly : null,
    },
    0,
  )
  try {
    const sample = new Sample()
    const allowed = lease ? untilAborted(lease.signal, bytes) : bytes
    const taken = sample.taking(allowed, progress?.add)
    const stored = await scope.blobs.put(upload.key, taken, { limit: upload.reserved })
    if ("exactly" in size && stored.size !== size.exactly) {
      const said = { fileName: name, stored: stored.size, announced: size.exactly }
      throw new BadRequest("upload-ended-early", said)
    }
    const mimeType = await detectType(sample.bytes(), name)
    return await commitFile(scope, upload._id, stored, { fileName: name, mimeType, modifiedAt })
  } catch (error) {
    if (!isRefusal(error) && (await isGivenUp(scope, upload._id))) {
      await removeNameless(scope, upload.key)
      throw givenUp()
    }
    await discardUpload(scope, upload._id)
    // The upload was given up before this, and its bytes may have been moved to their final place
    // since.
    if (error instanceof Conflict) await removeNameless(scope, upload.key)
    throw isRefusal(error) && error.status === 413 ? tooMuch(upload, name, size, spaceId ?? null) : error
  } finally {
    lease?.release()
    progress?.end("over")
    clearInterval(renewing)
  }
}

/** A key is no reason to drop other bytes than those that were stored with it. */
async function storedBefore(earlier: object, bytes: AsyncIterable<Uint8Array>): Promise<FileSummary> {
  const { file, sha256 } = ("response" in earlier ? earlier.response : undefined) as StoredOnce
  const hash = createHash("sha256")
  let left = file.size
  for await (const chunk of bytes) {
    left -= chunk.byteLength
    if (left < 0) throw otherRequest()
    hash.update(chunk)
  }
  if (hash.digest("hex") !== sha256) throw otherRequest()
  return file
}

/** False also if the database is unreachable. */
async function isGivenUp({ db }: Uploading, id: string): Promise<boolean> {
  return db.$count(uploads, eq(uploads._id, id)).then(
    (left) => left === 0,
    () => false,
  )
}

function leaseEnd() {
  return Date.now() + REQUEST_LEASE
}

/** This distinguishes what a dead process left behind from what is slow. */
function renewLease({ db, log }: Uploading, id: string) {
  const renew = async () => {
    await db.update(uploads).set({ expiresAt: leaseEnd() }).where(eq(uploads._id, id))
  }
  return setInterval(() => {
    renew().catch((error: unknown) =>
      log.warn({ err: error, upload: id }, "could not renew an upload; will try again"),
    )
  }, RENEWAL_INTERVAL)
}

/** Keeps the first bytes of a stream that passes through. */
class Sample {
  private readonly chunks: Uint8Array[] = []
  private size = 0

  async *taking(bytes: AsyncIterable<Uint8Array>, passed: ((bytes: number) => void) | undefined) {
    for await (const chunk of bytes) {
      passed?.(chunk.byteLength)
      if (this.size < SAMPLE_SIZE) {
        this.chunks.push(chunk.slice(0, SAMPLE_SIZE - this.size))
        this.size += chunk.byteLength
      }
      yield chunk
    }
  }

  bytes() {
    return Buffer.concat(this.chunks)
  }
}

/** The refusal for an upload that reached the end of its reservation. */
function tooMuch(
  { reserved, limits }: Pick<Reserved, "reserved" | "limits">,
  name: string,
  size: AnnouncedSize,
  spaceId: string | null,
) {
  if ("exactly" in size)
    return new BadRequest("upload-longer-than-announced", { fileName: name, announced: size.exactly })
  return reserved < limits.largestFile ? overQuota(name, limits, spaceId) : tooLarge(name, limits)
}
