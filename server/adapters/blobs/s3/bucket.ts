import { Readable } from "node:stream"
import type {
  CompletedPart,
  ListMultipartUploadsCommandOutput,
  S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3"
import { OutOfSpace, Unavailable } from "#server/errors.ts"
import { cutPieces, PIECE_SIZE } from "./pieces.ts"

export interface BucketSettings {
  bucket: string
  /** Before every name, without slashes at its ends; empty for none. */
  prefix: string
  /** For stores other than Amazon's. */
  endpoint: string | undefined
  region: string
  /**
   * Null to use the sources of Amazon's own tools: the environment, shared files, the machine's
   * role.
   */
  credentials: { accessKeyId: string; secretAccessKey: string } | null
}

interface Listed {
  name: string
  size: number
  modifiedAt: number
}

const AT_ONCE = 8
/** Downloads hold a connection for as long as the client reads. */
const CONNECTIONS = 500
/** Throws a sentence that says what to do if the bucket cannot be reached. */
export async function openBucket(
  { bucket, prefix, endpoint, region, credentials }: BucketSettings,
  settings = "BLOBS_URL and the S3_ settings",
) {
  const sdk = await import("@aws-sdk/client-s3")
  const s3: S3Client = new sdk.S3Client({
    region,
    ...(endpoint && { endpoint, forcePathStyle: true }),
    ...(credentials && { credentials }),
    // Other stores than Amazon's refuse the checksums that the SDK would add to everything.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      connectionTimeout: 5000,
      // Until the response begins: the caller may hold a row lock and a database connection.
      requestTimeout: 120_000,
      throwOnRequestTimeout: true,
      httpAgent: { maxSockets: CONNECTIONS },
      httpsAgent: { maxSockets: CONNECTIONS },
    },
  })
  const keyOf = (name: string) => (prefix ? `${prefix}/${name}` : name)
  const nameOf = (key: string) => (prefix ? key.slice(prefix.length + 1) : key)
  const at = (name: string) => ({ Bucket: bucket, Key: keyOf(name) })
  const sourceOf = (name: string) => encodeURI(`${bucket}/${keyOf(name)}`)

  await s3.send(new sdk.HeadBucketCommand({ Bucket: bucket })).catch((error: unknown) => {
    throw new Error(
      `The bucket ${bucket}${endpoint ? ` at ${endpoint}` : ""} cannot be used (${reasonOf(error)}). Check ${settings}.`,
      { cause: error },
    )
  })
  return {
    url: `s3://${prefix ? `${bucket}/${prefix}` : bucket}`,

    /** Of any size, without having all of it in memory. Stores nothing if `bytes` throws. */
    async upload(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
      let UploadId: string | undefined
      const parts: CompletedPart[] = []
      try {
        for await (const { piece } of cutPieces(0, Buffer.alloc(0), bytes)) {
          if (UploadId === undefined) {
            if (piece.byteLength < PIECE_SIZE) {
              await s3.send(new sdk.PutObjectCommand({ ...at(name), Body: piece }))
              continue
            }
            ;({ UploadId } = await s3.send(new sdk.CreateMultipartUploadCommand(at(name))))
          }
          const part = { ...at(name), UploadId, PartNumber: parts.length + 1 }
          const { ETag } = await s3.send(new sdk.UploadPartCommand({ ...part, Body: piece }))
          parts.push({ PartNumber: part.PartNumber, ETag })
        }
        if (UploadId === undefined) return
        const whole = { ...at(name), UploadId, MultipartUpload: { Parts: parts } }
        await s3.send(new sdk.CompleteMultipartUploadCommand(whole))
      } catch (error) {
        if (UploadId !== undefined)
          await s3.send(new sdk.AbortMultipartUploadCommand({ ...at(name), UploadId })).catch(() => {})
        explain(error)
      }
    },

    async put(name: string, bytes: Uint8Array): Promise<void> {
      await s3.send(new sdk.PutObjectCommand({ ...at(name), Body: bytes })).catch(explain)
    },

    /** Null if there is none. */
    async head(name: string): Promise<{ size: number; sha256: string | null } | null> {
      try {
        const found = await s3.send(new sdk.HeadObjectCommand(at(name)))
        return { size: found.ContentLength ?? 0, sha256: found.Metadata?.["sha256"] ?? null }
      } catch (error) {
        if (isMissing(error)) return null
        throw error
      }
    },

    open,

    /** Throws if there is none. */
    async *read(name: string): AsyncGenerator<Uint8Array> {
      const stream = await open(name)
      if (!stream) throw new Error(`${name} is missing from the bucket.`)
      yield* stream as AsyncIterable<Uint8Array>
    },

    /** In the order of their names. */
    async *list(under: string): AsyncGenerator<Listed> {
      const Prefix = keyOf(under)
      for await (const page of sdk.paginateListObjectsV2({ client: s3 }, { Bucket: bucket, Prefix })) {
        for (const { Key = "", Size = 0, LastModified } of page.Contents ?? []) {
          yield { name: nameOf(Key), size: Size, modifiedAt: LastModified?.getTime() ?? 0 }
        }
      }
    },

    /** Joins objects within the store. All except the last have five megabytes or more. */
    async join(names: readonly string[], target: string, metadata: Record<string, string>): Promise<void> {
      const [only] = names
      if (only !== undefined && names.length === 1) {
        const copy = { ...at(target), CopySource: sourceOf(only), Metadata: metadata }
        await s3.send(new sdk.CopyObjectCommand({ ...copy, MetadataDirective: "REPLACE" })).catch(explain)
        return
      }
      const begun = await s3.send(new sdk.CreateMultipartUploadCommand({ ...at(target), Metadata: metadata }))
      const upload = { ...at(target), UploadId: begun.UploadId }
      try {
        const parts = await each(names, async (name, index) => {
          const part = { ...upload, PartNumber: index + 1, CopySource: sourceOf(name) }
          const { CopyPartResult } = await s3.send(new sdk.UploadPartCopyCommand(part))
          return { PartNumber: index + 1, ETag: CopyPartResult?.ETag }
        })
        await s3.send(
          new sdk.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: parts } }),
        )
      } catch (error) {
        await s3.send(new sdk.AbortMultipartUploadCommand(upload)).catch(() => {})
        explain(error)
      }
    },

    /** Multipart uploads that were started and are neither completed nor aborted. */
    async *listJoins(under: string) {
      const where = { Bucket: bucket, Prefix: keyOf(under) }
      for (let after: { KeyMarker?: string; UploadIdMarker?: string } | null = {}; after;) {
        const page: Partial<ListMultipartUploadsCommandOutput> = await s3
          .send(new sdk.ListMultipartUploadsCommand({ ...where, ...after }))
          .catch(noneWhereUnknown)
        for (const { Key = "", UploadId, Initiated } of page.Uploads ?? []) {
          const abandon = async () => {
            await s3.send(new sdk.AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
          }
          yield { name: nameOf(Key), beganAt: Initiated?.getTime() ?? 0, abandon }
        }
        const { IsTruncated, NextKeyMarker, NextUploadIdMarker } = page
        after =
          IsTruncated && NextKeyMarker
            ? { KeyMarker: NextKeyMarker, ...(NextUploadIdMarker && { UploadIdMarker: NextUploadIdMarker }) }
            : null
      }
    },

    /** Removing a missing object is not an error. */
    async remove(names: readonly string[]): Promise<void> {
      // One by one: the request that removes many requires a checksum that not every store
      // understands.
      await each(names, (name) => s3.send(new sdk.DeleteObjectCommand(at(name))))
    },
  }

  async function open(name: string, range?: { start: number; end: number }): Promise<Readable | null> {
    try {
      const Range = range && `bytes=${range.start}-${range.end}`
      const { Body } = await s3.send(new sdk.GetObjectCommand({ ...at(name), Range }))
      return Body as Readable // in Node it is one
    } catch (error) {
      if (isMissing(error)) return null
      // The range starts at the end, like every range of an empty object.
      if (statusOf(error) === 416) return Readable.from([])
      throw error
    }
  }
}

/** The same function, which throws a refusal for a bucket that refuses these keys. */
export function explaining<Given extends unknown[], Result>(act: (...given: Given) => Promise<Result>) {
  return async (...given: Given): Promise<Result> => {
    try {
      return await act(...given)
    } catch (error) {
      if (![401, 403].includes(statusOf(error) ?? 0)) throw error
      throw Object.assign(new Unavailable("file-store-refuses"), { cause: error })
    }
  }
}

/** A few at a time, with the results in order. */
async function each<Item, Result>(
  items: readonly Item[],
  act: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  const work = async () => {
    for (let index = next++; index < items.length; index = next++) {
      results[index] = await act(items[index] as Item, index)
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, work))
  return results
}

/** Not every store can list multipart uploads; those that cannot list them discard them automatically. */
function noneWhereUnknown(error: unknown): Partial<ListMultipartUploadsCommandOutput> {
  if ([400, 404, 405, 501].includes(statusOf(error) ?? 0)) return {}
  throw error
}

function isMissing(error: unknown) {
  return statusOf(error) === 404
}

function explain(error: unknown): never {
  if (statusOf(error) === 507) throw new OutOfSpace("disk-full")
  throw error
}

function statusOf(error: unknown) {
  return (error as Partial<S3ServiceException>).$metadata?.httpStatusCode
}

function reasonOf(error: unknown) {
  const status = statusOf(error)
  if (status === 404) return "there is none of that name"
  if (status === 401 || status === 403) return "the keys do not open it"
  return error instanceof Error ? error.message : String(error)
}
