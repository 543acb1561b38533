import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { CreateBucketCommand, paginateListObjectsV2, S3Client } from "@aws-sdk/client-s3"
import S3rver from "@20minutes/s3rver"
import { afterAll, beforeAll } from "vitest"
import type { BucketSettings } from "#server/adapters/blobs/s3/bucket.ts"

const REGION = "us-east-1"
const CREDENTIALS = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" }

/** A server with the S3 API, for the tests of a file. */
export function startS3() {
  const directory = mkdtempSync(join(tmpdir(), "s3-"))
  const server = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory,
    // It signs a bucket's URL without the trailing slash, unlike Amazon and its SDK.
    allowMismatchedSignatures: true,
  })
  let port = 0
  let bucket = ""

  beforeAll(async () => {
    ;({ port } = await server.run())
  })
  afterAll(async () => {
    await server.close()
    rmSync(directory, { recursive: true })
  })
  const openClient = () =>
    new S3Client({
      endpoint: `http://127.0.0.1:${port}`,
      region: REGION,
      forcePathStyle: true,
      credentials: CREDENTIALS,
    })

  return {
    settings: (): BucketSettings => ({
      bucket,
      prefix: "some/where",
      endpoint: `http://127.0.0.1:${port}`,
      region: REGION,
      credentials: CREDENTIALS,
    }),
    async emptyBucket() {
      bucket = `b-${randomUUID()}`
      await openClient().send(new CreateBucketCommand({ Bucket: bucket }))
    },
    /** Everything in the bucket, including the parts of unfinished uploads. */
    async objects(): Promise<{ name: string; size: number }[]> {
      const found: { name: string; size: number }[] = []
      for await (const page of paginateListObjectsV2({ client: openClient() }, { Bucket: bucket })) {
        for (const { Key = "", Size = 0 } of page.Contents ?? []) found.push({ name: Key, size: Size })
      }
      return found
    },
  }
}
