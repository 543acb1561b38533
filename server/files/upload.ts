import { and, eq, lte, sql } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { blobs, files, fileUsage, uploads } from "#db/schema/files.ts"
import { BadRequest, Conflict, isRefusal, OutOfSpace, TooLarge } from "../errors.ts"
import type { StoredBlob } from "../ports/blobs.ts"
import type { Scope } from "../scope.ts"
import { quotaOf } from "./access.ts"
import { formatBytes, type FileSummary } from "./contract.ts"
import { findFreeNumber } from "./free-name.ts"
import { summary } from "./list.ts"
import { cleanFileName, numberedName } from "./names.ts"
import { discardUpload } from "./sweep.ts"
import { detectType, SAMPLE_SIZE } from "./types.ts"

export interface IncomingFile {
  /** As the sender calls it. */
  fileName: string
  bytes: AsyncIterable<Uint8Array>
  /** Bytes. A form says only how long it is as a whole, and a stream of unknown length at most `Infinity`. */
  size: { exactly: number } | { atMost: number }
}

type Uploading = Scope<"db" | "blobs" | "config" | "log" | "viewer">

/** Milliseconds. An upload that takes longer has lost its place. */
const LIFETIME = 6 * 60 * 60 * 1000

/**
 * Takes in one file. Its room is reserved before the first byte, its bytes are durable before its row is written, and when
 * anything fails in between, nothing of it remains.
 * Throws `TooLarge`, `OutOfSpace` past the viewer's quota, `BadRequest` for another number of bytes than was announced.
 */
export async function uploadFile(
  scope: Uploading,
  { fileName, bytes, size }: IncomingFile,
): Promise<FileSummary> {
  const name = cleanFileName(fileName)
  const upload = await reserve(scope, name, size)
  try {
    const sample = new Sample()
    const stored = await scope.blobs.put(upload.key, sample.taking(bytes), { limit: upload.reserved })
    if ("exactly" in size && stored.size !== size.exactly) {
      throw new BadRequest(`${name} ended after ${stored.size} of ${size.exactly} bytes.`)
    }
    const mimeType = await detectType(sample.bytes(), name)
    return await commit(scope, upload, stored, { fileName: name, mimeType })
  } catch (error) {
    await discardUpload(scope, upload._id)
    throw isRefusal(error) && error.status === 413 ? tooMuch(scope, name, size, upload.reserved) : error
  }
}

interface Reservation {
  _id: string
  key: string
  reserved: number
}

/**
 * One conditional update, so that any number of uploads at once cannot hold more than the quota. An upload of unknown size
 * gets what is left, up to the largest file.
 */
async function reserve(scope: Uploading, name: string, size: IncomingFile["size"]): Promise<Reservation> {
  const { maxSize } = scope.config.files
  if ("exactly" in size && size.exactly > maxSize) throw tooLarge(name, maxSize)
  const atLeast = "exactly" in size ? size.exactly : 0
  const atMost = "exactly" in size ? size.exactly : Math.min(size.atMost, maxSize)

  const userId = scope.viewer.user._id
  const quota = quotaOf(scope)
  const taken = sql`${fileUsage.used} + ${fileUsage.reserved}`
  return scope.db.transaction(async (tx) => {
    await tx.insert(fileUsage).values({ userId }).onConflictDoNothing()
    const [usage] = await tx
      .update(fileUsage)
      .set({ reserved: sql`${fileUsage.reserved} + least(${atMost}::bigint, ${quota}::bigint - (${taken}))` })
      .where(and(eq(fileUsage.userId, userId), lte(sql`${taken} + ${atLeast}`, quota)))
      .returning({ reserved: sql<number>`(new.reserved - old.reserved)::float8` })
    if (!usage) throw overQuota(name, quota)
    const { reserved } = usage
    const key = scope.blobs.newKey()
    const [upload] = await tx
      .insert(uploads)
      .values({ userId, key, reserved, expiresAt: Date.now() + LIFETIME })
      .returning({ _id: uploads._id })
    if (!upload) throw new Error("The database took an upload and returned no row.")
    return { _id: upload._id, key, reserved }
  })
}

/** The upload's row becomes the file, in one transaction: the bytes are never without a row that names them. */
function commit(
  { db, viewer }: Uploading,
  upload: Reservation,
  stored: StoredBlob,
  file: { fileName: string; mimeType: string },
): Promise<FileSummary> {
  return db.transaction(async (tx) => {
    const [finished] = await tx.delete(uploads).where(eq(uploads._id, upload._id)).returning()
    if (!finished)
      throw new Conflict("The upload took too long, and its room was given up. Send the file again.")
    const [blob] = await tx
      .insert(blobs)
      .values({ key: upload.key, ...stored })
      .returning()
    if (!blob) throw new Error("The database took a blob and returned no row.")
    const row = await insertUnderFreeName(tx, { viewer }, { ...file, storageId: blob._id, size: stored.size })
    // Last, because every upload of the user waits for this row.
    await tx
      .update(fileUsage)
      .set({
        used: sql`${fileUsage.used} + ${stored.size}`,
        reserved: sql`${fileUsage.reserved} - ${upload.reserved}`,
      })
      .where(eq(fileUsage.userId, viewer.user._id))
    return row
  })
}

type Transaction = Parameters<Parameters<Database["transaction"]>[0]>[0]

/** `a.txt`, or `a (1).txt` where that is taken, and so on. Whoever takes a name at the same moment makes this one look again. */
async function insertUnderFreeName(
  tx: Transaction,
  scope: Scope<"viewer">,
  file: { fileName: string; mimeType: string; storageId: string; size: number },
): Promise<FileSummary> {
  const values = { ...file, userId: scope.viewer.user._id }
  const [plain] = await tx.insert(files).values(values).onConflictDoNothing().returning(summary)
  if (plain) return plain
  for (let number = await findFreeNumber({ ...scope, db: tx }, file.fileName); ; number++) {
    const [numbered] = await tx
      .insert(files)
      .values({ ...values, fileName: numberedName(file.fileName, number) })
      .onConflictDoNothing()
      .returning(summary)
    if (numbered) return numbered
  }
}

/** Keeps the first bytes of a stream that passes by. */
class Sample {
  private readonly chunks: Uint8Array[] = []
  private size = 0

  async *taking(bytes: AsyncIterable<Uint8Array>) {
    for await (const chunk of bytes) {
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

/** Why an upload had to end where its reservation ended. */
function tooMuch(scope: Uploading, name: string, size: IncomingFile["size"], reserved: number) {
  const { maxSize } = scope.config.files
  if ("exactly" in size)
    return new BadRequest(`${name} has more than the ${size.exactly} bytes that were announced.`)
  return reserved < maxSize ? overQuota(name, quotaOf(scope)) : tooLarge(name, maxSize)
}

function tooLarge(name: string, maxSize: number) {
  return new TooLarge(`${name} is too large. A file can be ${formatBytes(maxSize)} at most.`)
}

function overQuota(name: string, quota: number) {
  return new OutOfSpace(
    `There is no room for ${name}. Your files can take ${formatBytes(quota)} together: remove some, then send it again.`,
  )
}
