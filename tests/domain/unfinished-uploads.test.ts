import { utimes, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { basename, join } from "node:path"
import { eq } from "drizzle-orm"
import { afterEach, describe, expect, it, vi } from "vitest"
import { fileUsage, uploads } from "#db/schema/files.ts"
import { openS3Blobs } from "#server/adapters/blobs/s3.ts"
import { checkFiles, type Finding } from "#server/files/check.ts"
import { giveUpUpload } from "#server/files/discard.ts"
import { createUpload, receivePart } from "#server/files/resumable.ts"
import { sweep } from "#server/files/sweep.ts"
import { describeUnfinished } from "#server/files/unfinished.ts"
import { uploadFile } from "#server/files/upload.ts"
import { aFile } from "../support/file-drawer.ts"
import { portOf } from "../support/port-of.ts"
import { withDrawer } from "../support/with-drawer.ts"

const MINUTE = 60_000
const HOUR = 60 * MINUTE

const { drawer, ada } = withDrawer({ settings: { FILES_UNFINISHED_LIMIT: "1KB" }, people: { ada: "free" } })
afterEach(() => {
  vi.useRealTimers()
})

describe("an upload in one request", () => {
  it("expires five minutes after its process was last seen", async () => {
    const { sending, finish } = await sendSlowly()
    await sweep(drawer, Date.now() + 4 * MINUTE)
    expect(await drawer.usage()).toEqual([{ used: 0, reserved: 10 }])
    await sweep(drawer, Date.now() + 6 * MINUTE)
    expect(await drawer.usage()).toEqual([{ used: 0, reserved: 0 }])
    expect(await drawer.storedPaths()).toEqual([])
    finish()
    await expect(sending).rejects.toMatchObject({ status: 409 })
  })

  it("keeps its reserved space while it is in progress", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
    const { sending, finish } = await sendSlowly()
    await drawer.db.update(uploads).set({ expiresAt: Date.now() - 1 })
    vi.advanceTimersByTime(MINUTE)
    await vi.waitFor(async () => {
      const [row] = await drawer.db.select().from(uploads)
      expect(row?.expiresAt).toBeGreaterThan(Date.now() + 4 * MINUTE)
    })
    await sweep(drawer)
    finish()
    expect(await sending).toMatchObject({ size: 10 })
  })
})

describe("the sweep", () => {
  it("removes all expired uploads, however many", async () => {
    const over = Array.from({ length: 1100 }, () => ({
      userId: ada.viewer.user._id,
      key: drawer.blobs.newKey(),
      reserved: 1,
      expiresAt: Date.now() - HOUR,
    }))
    await drawer.db.insert(uploads).values(over)
    await drawer.db.insert(fileUsage).values({ userId: ada.viewer.user._id, reserved: 1100 })
    await sweep(drawer)
    expect(await drawer.db.$count(uploads)).toBe(0)
    expect(await drawer.usage()).toEqual([{ used: 0, reserved: 0 }])
  })

  it("keeps an upload that was extended after it was found", async () => {
    const id = await begin(ada, 100)
    await giveUpUpload(drawer, id, { ifExpiredBefore: Date.now() })
    expect(await drawer.db.$count(uploads)).toBe(1)
  })

  it("removes the oldest uploads of the largest holder if all together exceed the limit", async () => {
    const grace = await drawer.scopeOf("grace")
    const [oldest, later] = [await begin(ada, 300), await begin(ada, 400)]
    const hers = await begin(grace, 500)
    const waiting = async () => (await drawer.db.select().from(uploads)).map(({ _id }) => _id)
    await sweep(drawer)
    expect(await waiting()).toEqual([oldest, later, hers])

    const created = { _creationTime: Date.now() - 3 * HOUR }
    await drawer.db.update(uploads).set({ ...created, expiresAt: Date.now() + 20 * HOUR })
    await drawer.db
      .update(uploads)
      .set({ expiresAt: Date.now() + 19 * HOUR })
      .where(eq(uploads._id, oldest))
    await sweep(drawer)
    expect((await waiting()).toSorted()).toEqual([later, hers].toSorted())
  })

  it("removes leftovers of a stored file's writing, which the check reports", async () => {
    await uploadFile(ada, aFile("whole.txt"))
    const [stored = ""] = await drawer.storedPaths()
    const rest = join(drawer.directory, "tmp", basename(stored))
    await writeFile(rest, "a piece")
    const before = new Date(Date.now() - 2 * HOUR)
    await utimes(rest, before, before)
    expect(await findings()).toMatchObject([{ kind: "rest", text: expect.stringContaining("7 B") }])
    await sweep(drawer)
    expect(await findings()).toEqual([])
    expect(await drawer.storedPaths()).toEqual([stored])
  })

  it("aborts a bucket's multipart uploads after a day, on any page of the list", async () => {
    const bucket = await startBucketWithJoins([1, 25, 2, 26])
    const blobs = await openS3Blobs(bucket.settings)
    await sweep({ ...drawer, blobs }, Date.now())
    expect(bucket.aborted).toEqual(["1", "3"])
    const found: Finding[] = []
    for await (const finding of checkFiles({ ...drawer, blobs })) found.push(finding)
    expect(found.map(({ kind }) => kind)).toEqual(["rest", "rest"])
    await bucket.close()
  })
})

describe("the space held by unfinished uploads", () => {
  it("is reported to the operator", async () => {
    expect(await describeUnfinished(drawer)).toEqual([])
    await begin(ada, 300, 40)
    await drawer.blobs.append(drawer.blobs.newKey(), 0, bytesOf("nobody's"))
    expect(await describeUnfinished(drawer)).toEqual([
      expect.stringMatching(
        /^1 unfinished upload of 1 person: 300 B reserved \(limit 1 kB\), 40 B received\. 0 past their time; the last one ends \d{4}-/,
      ),
      "1 entry of no upload (8 B), removed when an hour old.",
    ])
  })
})

async function* bytesOf(text: string) {
  yield Buffer.from(text)
}

/** Ten bytes, the last five of which wait for `finish`. */
async function sendSlowly() {
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  async function* bytes() {
    yield Buffer.from("first")
    begun.resolve()
    await gate.promise
    yield Buffer.from("after")
  }
  const sending = uploadFile(ada, { fileName: "slow.bin", bytes: bytes(), size: { exactly: 10 } })
  sending.catch(() => {})
  await begun.promise
  return { sending, finish: () => gate.resolve() }
}

async function begin(scope: typeof ada, length: number, received = 1): Promise<string> {
  const { _id } = await createUpload(scope, { fileName: "half.bin", length, metadata: "" })
  const body = new Blob([Buffer.alloc(received)]).stream()
  await receivePart(scope, _id, { offset: 0, body, size: received })
  return _id
}

async function findings(): Promise<Finding[]> {
  const found: Finding[] = []
  for await (const finding of checkFiles(drawer)) found.push(finding)
  return found
}

/**
 * A store that contains only multipart uploads, begun that many hours ago; it lists two at a time.
 */
async function startBucketWithJoins(hours: number[]) {
  const aborted: string[] = []
  const key = "ab/cd/abcd0000-0000-4000-8000-000000000000"
  const describeJoin = (begun: number, id: number) =>
    `<Upload><Key>blobs/${key}</Key><UploadId>${id}</UploadId><Initiated>${new Date(Date.now() - begun * HOUR).toISOString()}</Initiated></Upload>`
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://localhost")
    const id = url.searchParams.get("uploadId")
    if (request.method === "DELETE" && id) {
      aborted.push(id)
      return void response.writeHead(204).end()
    }
    response.setHeader("content-type", "application/xml")
    if (!url.searchParams.has("uploads")) {
      return void response.end("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>")
    }
    const from = Number(url.searchParams.get("upload-id-marker") ?? 0)
    const page = hours.slice(from, from + 2).map((begun, at) => describeJoin(begun, from + at))
    const rest = from + 2 < hours.length
    const next = `<NextKeyMarker>blobs/${key}</NextKeyMarker><NextUploadIdMarker>${from + 2}</NextUploadIdMarker>`
    response.end(
      `<ListMultipartUploadsResult><IsTruncated>${rest}</IsTruncated>${rest ? next : ""}${page.join("")}</ListMultipartUploadsResult>`,
    )
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    aborted,
    settings: {
      bucket: "files",
      prefix: "",
      endpoint: `http://127.0.0.1:${portOf(server)}`,
      region: "us-east-1",
      credentials: { accessKeyId: "key", secretAccessKey: "secret" },
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
