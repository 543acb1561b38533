import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3"
import S3rver from "@20minutes/s3rver"
import { afterAll, beforeAll } from "vitest"
import type { BucketSettings } from "#server/adapters/s3-blobs/bucket.ts"

const CREDENTIALS = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" }

/** A server that speaks S3, for the tests of a file. */
export function startS3() {
  const directory = mkdtempSync(join(tmpdir(), "s3-"))
  const server = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory,
    // It signs a bucket's address without the slash at its end, unlike Amazon and its SDK.
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
  return {
    settings: (): BucketSettings => ({
      bucket,
      prefix: "some/where",
      endpoint: `http://127.0.0.1:${port}`,
      region: "us-east-1",
      credentials: CREDENTIALS,
    }),
    async emptyBucket() {
      bucket = `b-${randomUUID()}`
      const { endpoint = "", region } = this.settings()
      const client = new S3Client({ endpoint, region, forcePathStyle: true, credentials: CREDENTIALS })
      await client.send(new CreateBucketCommand({ Bucket: bucket }))
    },
  }
}
