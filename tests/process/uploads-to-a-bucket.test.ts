import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest"
import { inAll } from "../support/all.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { spawnTideline } from "../support/spawn-tideline.ts"
import { sendBytes } from "../support/big-file.ts"
import { ada as adaLovelace, openBrowser, signUp } from "../support/people.ts"
import { findFreePort } from "../support/ports.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { startS3 } from "../support/s3.ts"
import { begin, offsetOf, uploadAt } from "../support/uploads.ts"

const s3 = startS3()
let database: Awaited<ReturnType<typeof createTestDatabase>>

beforeEach(async () => {
  await s3.emptyBucket()
  database = await createTestDatabase()
})
afterEach(() => database.close())

inAll(
  "a file in parts survives a killed server, is read by ranges, and leaves nothing else in the bucket",
  async () => {
    const bytes = randomBytes(20_000_000)
    const one = await start()
    const ada = await signUp(one, adaLovelace)
    const upload = await begin(ada, "film.mov", bytes.length)
    for (const [from, to] of [
      [0, 5_000_000],
      [5_000_000, 9_000_000],
    ] as const) {
      expect((await upload.patch(from, bytes.subarray(from, to))).status).toBe(204)
    }

    // Dies in the middle of a part, with more than a chunk of it sent.
    const broken = sendBytes(
      new URL(upload.address, one.origin),
      {
        method: "PATCH",
        headers: {
          cookie: ada.cookie(),
          origin: one.origin,
          "tus-resumable": "1.0.0",
          "content-type": "application/offset+octet-stream",
          "upload-offset": "9000000",
        },
      },
      neverEnding(bytes.subarray(9_000_000, 19_000_000)),
    )
    await expect.poll(() => sizeInBucket(), { timeout: 20_000 }).toBeGreaterThan(9_000_000)
    process.kill(one.pid, "SIGKILL")
    expect(await broken).toBeNull()

    const other = await start()
    const adaAtOther = openBrowser(other, ada.cookies())
    const rest = uploadAt(adaAtOther, upload.address)
    const offset = await offsetOf(rest)
    expect(offset).toBeGreaterThanOrEqual(9_000_000)
    expect(offset).toBe(await sizeInBucket())
    const last = await rest.patch(offset, bytes.subarray(offset))
    expect(last.status).toBe(204)
    const address = `/api/files/${last.headers.get("tideline-file-id")}`

    const whole = await adaAtOther(address)
    expect(Buffer.compare(Buffer.from(await whole.arrayBuffer()), bytes)).toBe(0)
    const part = await adaAtOther(address, { headers: { range: "bytes=8388000-8390000" } })
    expect(part.status).toBe(206)
    expect(part.headers.get("content-range")).toBe("bytes 8388000-8390000/20000000")
    expect(Buffer.compare(Buffer.from(await part.arrayBuffer()), bytes.subarray(8_388_000, 8_390_001))).toBe(
      0,
    )

    expect((await adaAtOther(address, { method: "DELETE" })).status).toBe(204)
    expect((await adaAtOther(address)).status).toBe(404)
    expect(await sizeInBucket()).toBe(bytes.length)
    expect((await adaAtOther(`${address}?permanently=1`, { method: "DELETE" })).status).toBe(204)
    await expect.poll(() => s3.objects()).toEqual([])
  },
)

inAll("cancelled, direct and refused uploads leave only what they should in the bucket", async () => {
  const app = await start({ FILES_QUOTA_FREE: "10MB" })
  const ada = await signUp(app, adaLovelace)
  const upload = await begin(ada, "a.bin", 9_000_000)
  await upload.patch(0, randomBytes(8_500_000))
  expect(await sizeInBucket()).toBe(8_500_000)
  expect((await upload.cancel()).status).toBe(204)
  await expect.poll(() => s3.objects()).toEqual([])

  const refused = await ada("/api/files?name=b.bin", { method: "POST", body: randomBytes(11_000_000) })
  expect(refused.status).toBe(507)
  expect(await s3.objects()).toEqual([])
  const stored = await ada("/api/files?name=c.bin", { method: "POST", body: randomBytes(9_000_000) })
  expect(stored.status).toBe(201)
  expect(await sizeInBucket()).toBe(9_000_000)
})

test("a start reports in one sentence that the bucket does not exist", async () => {
  expect(await lastWords({ BLOBS_URL: "s3://no-such-bucket" })).toMatch(
    /The bucket no-such-bucket at http:\/\/127\.0\.0\.1:\d+ cannot be used \(there is none of that name\)\. Check BLOBS_URL and the S3_ settings\./,
  )
})

// Only real stores check the secret as well: the one in the tests accepts any.
test("a start reports in one sentence that the keys are wrong, without repeating them", async () => {
  const words = await lastWords({ S3_ACCESS_KEY_ID: "SOMEBODY", S3_SECRET_ACCESS_KEY: "not the secret" })
  expect(words).toMatch(
    /The bucket b-[-\w]+ at http:\/\/127\.0\.0\.1:\d+ cannot be used \(the keys do not open it\)/,
  )
  expect(words).not.toContain("not the secret")
})

async function start(env: Record<string, string> = {}): Promise<TidelineApp> {
  const app = await startTideline({ ...bucketSettings(), DATABASE_URL: database.url, ...env })
  onTestFinished(() => app.stop())
  return app
}

/** What a server that fails to start prints before it exits with 1. */
async function lastWords(env: Record<string, string>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "tideline-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const server = spawnTideline(folder, {
    ...bucketSettings(),
    PORT: String(await findFreePort()),
    DATABASE_URL: database.url,
    ...env,
  })
  expect(await server.exited).toBe(1)
  return server.log.join("\n")
}

function bucketSettings(): Record<string, string> {
  const { bucket, prefix, endpoint = "", region, credentials } = s3.settings()
  return {
    BLOBS_URL: `s3://${bucket}/${prefix}`,
    S3_ENDPOINT: endpoint,
    S3_REGION: region,
    S3_ACCESS_KEY_ID: credentials?.accessKeyId ?? "",
    S3_SECRET_ACCESS_KEY: credentials?.secretAccessKey ?? "",
  }
}

async function sizeInBucket(): Promise<number> {
  return (await s3.objects()).reduce((sum, { size }) => sum + size, 0)
}

async function* neverEnding(bytes: Buffer) {
  yield bytes
  await new Promise(() => {})
}
