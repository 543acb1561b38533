import { randomBytes } from "node:crypto"
import { stat } from "node:fs/promises"
import { Readable } from "node:stream"
import { sql } from "drizzle-orm"
import { Upload } from "tus-js-client"
import { afterEach, describe, expect, test } from "vitest"
import { openDatabase } from "#db/client.ts"
import { files, fileUsage, uploads } from "#db/schema/files.ts"
import { withResource } from "../support/with-resource.ts"
import { ada as adaLovelace, grace as graceHopper } from "../support/people.ts"
import { openConnection, readAll, statusesOf } from "../support/raw-http.ts"
import { storedPaths } from "../support/stored-paths.ts"
import { begin, create, metadataOf, offsetOf, uploadAt } from "../support/uploads.ts"
import { withTideline } from "../support/with-tideline.ts"

const NOBODYS = "01999999-9999-7999-8999-999999999999"
const HOUR = 60 * 60 * 1000

const { app, ada, grace } = withTideline({
  settings: { FILES_MAX_SIZE: "20MB", FILES_QUOTA_FREE: "50MB", FILES_UPLOAD_HOURS: "2" },
  people: { ada: adaLovelace, grace: graceHopper },
})
const database = withResource(() => openDatabase(app.databaseUrl, { connections: 1 }))

/** Whatever a test does, it leaves as much free space as it found. */
afterEach(async () => {
  const rows = await database.db.select({ reserved: fileUsage.reserved }).from(fileUsage)
  for (const { reserved } of rows) expect(reserved).toBe(0)
})

describe("an upload", () => {
  test("is created with a relative URL, and expires after an hour without a byte", async () => {
    const response = await create(ada, { "Upload-Length": "10", "Upload-Metadata": metadataOf("a.txt") })
    expect(response.status).toBe(201)
    expect(response.headers.get("tus-resumable")).toBe("1.0.0")
    const address = response.headers.get("location") ?? ""
    expect(address).toMatch(/^\/api\/files\/uploads\/[0-9a-f-]{36}$/)
    expect(expiryOf(response)).toBeCloseTo(Date.now() + HOUR, -5)
    expect(await response.text()).toBe("")
    await uploadAt(ada, address).cancel()
  })

  test("reports its offset, its length and its metadata", async () => {
    const metadata = `${metadataOf("été 🐎.txt")},empty,folder ${Buffer.from("a/b").toString("base64")}`
    const created = await create(ada, { "Upload-Length": "10", "Upload-Metadata": metadata })
    const upload = uploadAt(ada, created.headers.get("location") ?? "")
    const response = await upload.head()
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "upload-offset": "0",
      "upload-length": "10",
      "upload-metadata": metadata,
      "cache-control": "no-store",
      "tus-resumable": "1.0.0",
    })
    await upload.cancel()
  })

  test("becomes a file with its last byte, and returns its id", async () => {
    const bytes = randomBytes(700_000)
    const upload = await begin(ada, "noise.bin", bytes.length)
    const first = await upload.patch(0, bytes.subarray(0, 300_001))
    expect(first.status).toBe(204)
    expect(first.headers.get("upload-offset")).toBe("300001")
    expect(first.headers.get("tideline-file-id")).toBeNull()
    expect(expiryOf(first)).toBeCloseTo(Date.now() + 2 * HOUR, -5)
    expect(await offsetOf(upload)).toBe(300_001)

    const last = await upload.patch(300_001, bytes.subarray(300_001))
    expect(last.status).toBe(204)
    expect(last.headers.get("upload-offset")).toBe("700000")
    expect(last.headers.get("upload-expires")).toBeNull()
    const id = last.headers.get("tideline-file-id")
    const file = await ada(`/api/files/${id}`)
    expect(file.headers.get("content-disposition")).toBe("attachment; filename=noise.bin")
    expect(Buffer.from(await file.arrayBuffer()).equals(bytes)).toBe(true)

    // For a client that missed the response.
    const head = await upload.head()
    expect(head.headers.get("upload-offset")).toBe("700000")
    expect(head.headers.get("tideline-file-id")).toBe(id)
    const again = await upload.patch(700_000, new Uint8Array())
    expect(again.status).toBe(204)
    expect(again.headers.get("tideline-file-id")).toBe(id)
    expect((await upload.patch(300_001, bytes.subarray(300_001))).status).toBe(409)
    expect((await upload.cancel()).status).toBe(409)
    expect((await ada(`/api/files/${id}`, { method: "HEAD" })).status).toBe(200)
    await purge(id)
    expect((await upload.head()).status).toBe(404)
  })

  test("gets its type from its bytes, and a free name", async () => {
    const png = Buffer.from("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489", "hex")
    const ids: (string | null)[] = []
    for (const _ of [1, 2]) {
      const upload = await begin(ada, "../folder/photo.txt", png.length)
      await upload.patch(0, png.subarray(0, 4))
      ids.push((await upload.patch(4, png.subarray(4))).headers.get("tideline-file-id"))
    }
    const kept = await database.db.select().from(files)
    expect(kept.map(({ fileName, mimeType }) => `${fileName} ${mimeType}`).toSorted()).toEqual([
      "photo (1).txt image/png",
      "photo.txt image/png",
    ])
    await Promise.all(ids.map(purge))
  })

  test("may include its first bytes when it is created", async () => {
    const bytes = randomBytes(1000)
    const headers = { "Upload-Length": "1000", "Upload-Metadata": metadataOf("a.bin") }
    const begun = await create(ada, headers, bytes.subarray(0, 400))
    expect(begun.status).toBe(201)
    expect(begun.headers.get("upload-offset")).toBe("400")
    const upload = uploadAt(ada, begun.headers.get("location") ?? "")
    const last = await upload.patch(400, bytes.subarray(400))
    await purge(last.headers.get("tideline-file-id"))

    const whole = await create(ada, headers, bytes)
    expect(whole.status).toBe(201)
    expect(whole.headers.get("upload-offset")).toBe("1000")
    const id = whole.headers.get("tideline-file-id")
    expect(Buffer.from(await (await ada(`/api/files/${id}`)).arrayBuffer()).equals(bytes)).toBe(true)
    await purge(id)
  })

  test("of no bytes becomes a file immediately", async () => {
    const created = await create(ada, { "Upload-Length": "0", "Upload-Metadata": metadataOf("empty.txt") })
    expect(created.status).toBe(201)
    const id = created.headers.get("tideline-file-id")
    expect(await (await ada(`/api/files/${id}`)).text()).toBe("")
    await purge(id)
  })

  test("accepts the other methods as a POST, for networks that allow nothing else", async () => {
    const upload = await begin(ada, "a.txt", 4)
    const response = await ada(upload.address, {
      method: "POST",
      headers: {
        "Tus-Resumable": "1.0.0",
        "X-HTTP-Method-Override": "PATCH",
        "Content-Type": "application/offset+octet-stream",
        "Upload-Offset": "0",
      },
      body: "half",
    }).catch(String)
    // The document does not describe it.
    expect(response).toContain("answered 204")
    await purge((await upload.head()).headers.get("tideline-file-id"))
  })

  test("is described in the response to OPTIONS", async () => {
    const response = await ada("/api/files/uploads", { method: "OPTIONS" })
    expect(response.status).toBe(204)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "tus-version": "1.0.0",
      "tus-extension": "creation,creation-with-upload,expiration,termination",
      "tus-max-size": "20000000",
    })
  })

  test("frees its space immediately when it is cancelled", async () => {
    const upload = await begin(ada, "film.mov", 20_000_000)
    await upload.patch(0, Buffer.alloc(100_000))
    expect(await reservedBy("ada@example.org")).toBe(20_000_000)
    const response = await upload.cancel()
    expect(response.status).toBe(204)
    expect(await reservedBy("ada@example.org")).toBe(0)
    expect(await storedPaths(app)).toEqual([])
    for (const again of [upload.head(), upload.patch(100_000, Buffer.alloc(1)), upload.cancel()]) {
      expect((await again).status).toBe(404)
    }
  })

  test("that expired is gone, and its space is free again", async () => {
    const upload = await begin(ada, "film.mov", 20_000_000)
    await upload.patch(0, Buffer.alloc(100_000))
    await database.db.update(uploads).set({ expiresAt: Date.now() - 1 })
    expect((await upload.head()).status).toBe(410)
    const refused = await upload.patch(100_000, Buffer.alloc(1))
    expect(refused.status).toBe(410)
    expect(await refused.json()).toEqual({
      error: "The upload received no data for too long and was cancelled. Send the file again.",
      reason: "upload-expired",
    })
    expect((await upload.cancel()).status).toBe(204)
    expect(await storedPaths(app)).toEqual([])
  })
})

describe("it refuses", () => {
  test.each([
    ["no version", {}],
    ["another version", { "Tus-Resumable": "0.2.2" }],
  ])("%s with 412, and the supported version", async (_what, headers) => {
    for (const [method, address] of [
      ["POST", "/api/files/uploads"],
      ["HEAD", `/api/files/uploads/${NOBODYS}`],
      ["PATCH", `/api/files/uploads/${NOBODYS}`],
      ["DELETE", `/api/files/uploads/${NOBODYS}`],
    ] as const) {
      const response = await ada(address, { method, headers: { ...headers } })
      expect(response.status).toBe(412)
      expect(response.headers.get("tus-version")).toBe("1.0.0")
    }
  })

  test.each([
    [{ "Upload-Metadata": metadataOf("a") }, "Upload-Length is missing: it is a number of bytes."],
    [
      { "Upload-Length": "-1", "Upload-Metadata": metadataOf("a") },
      "Upload-Length is not a number of bytes.",
    ],
    [
      { "Upload-Length": "1e3", "Upload-Metadata": metadataOf("a") },
      "Upload-Length is not a number of bytes.",
    ],
    [
      { "Upload-Length": "9007199254740993", "Upload-Metadata": metadataOf("a") },
      "Upload-Length is not a number of bytes.",
    ],
    [
      { "Upload-Defer-Length": "1", "Upload-Metadata": metadataOf("a") },
      "Upload-Defer-Length and Upload-Concat are not supported. Say the length of the whole file.",
    ],
    [{ "Upload-Length": "1" }, "Upload-Metadata is missing: it says what the file is called."],
    [
      { "Upload-Length": "1", "Upload-Metadata": "filetype dGV4dA==" },
      "Upload-Metadata does not say what the file is called. Send: filename <the name in Base64>",
    ],
    [{ "Upload-Length": "1", "Upload-Metadata": "filename a.txt" }, "Upload-Metadata is not Base64."],
    [
      { "Upload-Length": "1", "Upload-Metadata": "filename YQ==,filename YQ==" },
      "Upload-Metadata has a key twice.",
    ],
    [
      { "Upload-Length": "1", "Upload-Metadata": "filename  YQ==,," },
      "Upload-Metadata is not pairs of a key and a value in Base64, with commas between them.",
    ],
    [
      { "Upload-Length": "1", "Upload-Metadata": "filename /w==" },
      "Upload-Metadata has a file name that is not UTF-8.",
    ],
    [
      { "Upload-Length": "1", "Upload-Metadata": `filename ${"YWFh".repeat(2100)}` },
      "Upload-Metadata is longer than 8 KB.",
    ],
  ])("a POST with %j", async (headers, error) => {
    const response = await create(ada, headers)
    expect(response.status).toBe(400)
    expect(response.headers.get("tus-resumable")).toBe("1.0.0")
    expect(await response.json()).toMatchObject({ error, reason: expect.stringMatching(/^tus-/) })
  })

  test("a PATCH of another type with 415, without an offset with 400, and with a wrong one with 409", async () => {
    const upload = await begin(ada, "a.txt", 10)
    await upload.patch(0, Buffer.from("abc"))
    const plain = await upload.patch(3, Buffer.from("d"), { "Content-Type": "text/plain" })
    expect(plain.status).toBe(415)
    for (const offset of ["", "x", "-3", "03", "3.5"]) {
      const response = await upload.patch(3, Buffer.from("d"), { "Upload-Offset": offset })
      expect(response.status).toBe(400)
    }
    for (const offset of [0, 2, 4, 10, 99]) {
      const response = await upload.patch(offset, Buffer.from("d"))
      expect(response.status).toBe(409)
      expect(await response.json()).toEqual({
        error: `The upload ends at 3, and these bytes were to begin at ${offset}. Send from 3 on.`,
        reason: "upload-offset-wrong",
        values: { end: 3, offset },
      })
    }
    expect(await offsetOf(upload)).toBe(3)
    await upload.cancel()
  })

  test("a file that is too large with 413, before its first byte", async () => {
    const response = await create(ada, {
      "Upload-Length": "20000001",
      "Upload-Metadata": metadataOf("film.mov"),
    })
    expect(response.status).toBe(413)
    expect(await response.json()).toEqual({
      error: "film.mov is too large. A file can be 20 MB at most.",
      reason: "file-too-large",
      values: { fileName: "film.mov", largest: { bytes: 20_000_000 } },
    })
  })

  test("a body whose stated length exceeds the upload with 413, and changes nothing", async () => {
    const upload = await begin(ada, "a.txt", 10)
    await upload.patch(0, Buffer.from("abc"))
    const response = await upload.patch(3, Buffer.from("defghijk"))
    expect(response.status).toBe(413)
    expect(await response.json()).toEqual({
      error: "There are more than the 10 bytes that were announced for a.txt.",
      reason: "upload-part-too-long",
      values: { announced: 10, fileName: "a.txt" },
    })
    expect(await offsetOf(upload)).toBe(3)
    await upload.cancel()
  })

  test("a body that turns out to exceed the upload with 413, and removes the upload", async () => {
    const upload = await begin(ada, "a.bin", 100_000)
    const response = await upload.patch(0, streamOf(randomBytes(60_000), randomBytes(60_000)))
    expect(response.status).toBe(413)
    expect((await upload.head()).status).toBe(404)
    const created = await create(
      ada,
      { "Upload-Length": "100000", "Upload-Metadata": metadataOf("a.bin") },
      streamOf(randomBytes(60_000), randomBytes(60_000)),
    )
    expect(created.status).toBe(413)
    expect(await storedPaths(app)).toEqual([])
    expect(await database.db.$count(uploads)).toBe(0)
  })

  test("what exceeds the quota with 507, without affecting anyone else", async () => {
    const begun = [await begin(ada, "1.mov", 20_000_000), await begin(ada, "2.mov", 20_000_000)]
    const headers = { "Upload-Length": "20000000", "Upload-Metadata": metadataOf("3.mov") }
    const response = await create(ada, headers)
    expect(response.status).toBe(507)
    expect(await response.json()).toEqual({
      error:
        "There isn't enough space for 3.mov. Your files can take 50 MB together: delete some, then send it again.",
      reason: "not-enough-space",
      values: { fileName: "3.mov", quota: { bytes: 50_000_000 } },
    })
    begun.push(await begin(grace, "3.mov", 20_000_000))
    for (const upload of begun) await upload.cancel()
  })

  test("a visitor with 401", async () => {
    const upload = await begin(ada, "a.txt", 10)
    for (const [method, address] of [
      ["POST", "/api/files/uploads"],
      ["HEAD", upload.address],
      ["PATCH", upload.address],
      ["DELETE", upload.address],
      ["OPTIONS", "/api/files/uploads"],
    ] as const) {
      const response = await fetch(new URL(address, app.origin), {
        method,
        headers: { "Tus-Resumable": "1.0.0" },
      })
      expect(response.status).toBe(401)
    }
    await upload.cancel()
  })

  test("a request from another site with 403", async () => {
    const upload = await begin(ada, "a.txt", 10)
    const headers = { origin: "https://elsewhere.example", "Tus-Resumable": "1.0.0" }
    for (const [method, address] of [
      ["POST", "/api/files/uploads"],
      ["PATCH", upload.address],
      ["DELETE", upload.address],
    ] as const) {
      expect((await ada(address, { method, headers })).status).toBe(403)
    }
    await upload.cancel()
  })

  test("any other method with 405", async () => {
    const upload = await begin(ada, "a.txt", 10)
    for (const [method, address] of [
      ["GET", "/api/files/uploads"],
      ["PUT", "/api/files/uploads"],
      ["GET", upload.address],
      ["PUT", upload.address],
    ] as const) {
      expect((await ada(address, { method, headers: { "Tus-Resumable": "1.0.0" } })).status).toBe(405)
    }
    await upload.cancel()
  })
})

test("somebody else's upload does not exist, whatever is requested", async () => {
  const upload = await begin(ada, "diary.txt", 10)
  await upload.patch(0, Buffer.from("Dear"))
  const theirs = uploadAt(grace, upload.address)
  const nobodys = uploadAt(grace, `/api/files/uploads/${NOBODYS}`)
  const noId = uploadAt(grace, "/api/files/uploads/..%2f..%2fetc")
  for (const { head, patch, cancel } of [theirs, nobodys, noId]) {
    expect((await head()).status).toBe(404)
    const refused = await patch(4, Buffer.from(" diary"))
    expect(refused.status).toBe(404)
    expect(await refused.json()).toEqual({
      error: "There is no such upload, or it is not yours.",
      reason: "no-such-upload",
    })
    expect((await cancel()).status).toBe(404)
  }
  expect(await offsetOf(upload)).toBe(4)
  const id = (await upload.patch(4, Buffer.from(" diary"))).headers.get("tideline-file-id")
  expect((await theirs.head()).status).toBe(404)
  expect((await theirs.cancel()).status).toBe(404)
  await purge(id)
})

test("an API key uploads as well as a cookie", async () => {
  const key = await ada.apiKey()
  const script = (address: string, init: RequestInit = {}) =>
    fetch(new URL(address, app.origin), {
      ...init,
      headers: { ...Object.fromEntries(new Headers(init.headers)), authorization: `Bearer ${key}` },
    })
  const upload = await begin(script, "from a script.txt", 5)
  const last = await upload.patch(0, Buffer.from("hello"))
  await purge(last.headers.get("tideline-file-id"))
})

describe("a connection", () => {
  test.each([
    ["that breaks", (socket: { destroy(): void }) => socket.destroy()],
    ["whose Content-Length was false", (socket: { end(): void }) => socket.end()],
  ])("%s in the middle leaves what arrived", async (_what, part) => {
    const bytes = randomBytes(1_000_000)
    const upload = await begin(ada, "half.bin", bytes.length)
    const socket = await openConnection(app.port)
    socket.on("error", () => {})
    socket.write(headOfPatch(upload.address, 0, bytes.length))
    socket.write(bytes.subarray(0, 400_000))
    await expect.poll(() => storedSize()).toBe(400_000)
    part(socket)
    const offset = await offsetOf(upload)
    expect(offset).toBe(400_000)
    const last = await upload.patch(offset, bytes.subarray(offset))
    const id = last.headers.get("tideline-file-id")
    expect(Buffer.from(await (await ada(`/api/files/${id}`)).arrayBuffer()).equals(bytes)).toBe(true)
    await purge(id)
  })

  test("that breaks while an upload is created leaves nothing", async () => {
    const socket = await openConnection(app.port)
    socket.on("error", () => {})
    socket.write(
      `POST /api/files/uploads HTTP/1.1\r\n${commonHeaders()}Upload-Length: 1000\r\nUpload-Metadata: ${metadataOf("a.bin")}\r\nContent-Length: 1000\r\n\r\n`,
    )
    socket.write(Buffer.alloc(400))
    await expect.poll(() => storedSize()).toBe(400)
    socket.destroy()
    await expect.poll(() => database.db.$count(uploads)).toBe(0)
    expect(await storedPaths(app)).toEqual([])
  })

  test("without incoming bytes is replaced by another", async () => {
    const upload = await begin(ada, "a.bin", 1000)
    const stalled = await openConnection(app.port)
    const answer = readAll(stalled)
    stalled.write(headOfPatch(upload.address, 0, 1000))
    stalled.write(Buffer.alloc(300, "a"))
    await expect.poll(() => storedSize()).toBe(300)
    expect(await offsetOf(upload)).toBe(300)
    const last = await upload.patch(300, Buffer.alloc(700, "b"))
    expect(last.status).toBe(204)
    stalled.end()
    expect(statusesOf(await answer)).toEqual([423])
    const id = last.headers.get("tideline-file-id")
    expect(await (await ada(`/api/files/${id}`)).text()).toBe("a".repeat(300) + "b".repeat(700))
    await purge(id)
  })

  test("with incoming bytes keeps the upload to itself", async () => {
    const upload = await begin(ada, "a.bin", 10_000_000)
    const trickle = new AbortController()
    const first = upload.patch(0, trickleOf(trickle.signal))
    await expect.poll(() => storedSize()).toBeGreaterThan(0)
    const [second, head] = await Promise.all([upload.patch(0, Buffer.alloc(10)), upload.head()])
    expect(second.status).toBe(423)
    expect(await second.json()).toEqual({
      error: "Another request is writing to this upload. Try again in a moment.",
      reason: "upload-locked",
    })
    expect(head.status).toBe(423)
    trickle.abort()
    const answered = await first
    expect(answered.status).toBe(204)
    expect(await offsetOf(upload)).toBe(Number(answered.headers.get("upload-offset")))
    await upload.cancel()
  })

  test("ends when its upload is cancelled over another", async () => {
    const upload = await begin(ada, "a.bin", 10_000_000)
    const trickle = new AbortController()
    const first = upload.patch(0, trickleOf(trickle.signal))
    await expect.poll(() => storedSize()).toBeGreaterThan(0)
    expect((await upload.cancel()).status).toBe(204)
    expect(await reservedBy("ada@example.org")).toBe(0)
    expect((await first).status).toBe(410)
    trickle.abort()
    await expect.poll(() => storedPaths(app)).toEqual([])
  })
})

describe("the client tus-js-client", () => {
  test("sends a file in chunks", async () => {
    const bytes = randomBytes(3_000_000)
    const pieces: number[] = []
    const response = await sendWithTus(bytes, {
      chunkSize: 1_000_000,
      onChunkComplete: (_size, accepted) => void pieces.push(accepted),
    })
    expect(pieces).toEqual([1_000_000, 2_000_000, 3_000_000])
    await expectStored(response, bytes)
  })

  test("sends a small file with its creation", async () => {
    const bytes = randomBytes(3000)
    const requests: string[] = []
    const response = await sendWithTus(bytes, {
      uploadDataDuringCreation: true,
      onAfterResponse: (request) => void requests.push(request.getMethod()),
    })
    expect(requests).toEqual(["POST"])
    await expectStored(response, bytes)
  })

  test("sends a file if only POST is allowed", async () => {
    const bytes = randomBytes(3000)
    const requests: string[] = []
    const response = await sendWithTus(bytes, {
      overridePatchMethod: true,
      onAfterResponse: (request) => void requests.push(request.getMethod()),
    })
    expect(requests).toEqual(["POST", "POST"])
    await expectStored(response, bytes)
  })

  test("resumes where it was stopped", async () => {
    const bytes = randomBytes(5_000_000)
    const stopped = Promise.withResolvers<string>()
    const upload = new Upload(bytes, {
      ...clientOptions(),
      chunkSize: 1_000_000,
      onChunkComplete: (_size, accepted) => {
        if (accepted === 3_000_000) void upload.abort().then(() => stopped.resolve(upload.url ?? ""))
      },
    })
    upload.start()
    const uploadUrl = await stopped.promise
    let resent = 0
    const response = await sendWithTus(bytes, {
      uploadUrl,
      chunkSize: 1_000_000,
      onChunkComplete: (size) => void (resent += size),
    })
    expect(resent).toBe(2_000_000)
    await expectStored(response, bytes)
  })

  test("cancels an upload", async () => {
    const stopped = Promise.withResolvers<void>()
    const upload = new Upload(randomBytes(3_000_000), {
      ...clientOptions(),
      chunkSize: 1_000_000,
      onChunkComplete: () => void upload.abort(true).then(stopped.resolve, stopped.reject),
    })
    upload.start()
    await stopped.promise
    expect(await database.db.$count(uploads)).toBe(0)
    expect(await storedPaths(app)).toEqual([])
  })
})

function clientOptions() {
  return {
    endpoint: `${app.origin}/api/files/uploads`,
    metadata: { filename: "noise.bin", filetype: "application/octet-stream" },
    headers: { cookie: ada.cookie(), origin: app.origin },
    retryDelays: null,
  }
}

function sendWithTus(bytes: Buffer, more: Partial<ConstructorParameters<typeof Upload>[1]>) {
  return new Promise<string | undefined>((resolve, reject) => {
    new Upload(bytes, {
      ...clientOptions(),
      ...more,
      onError: reject,
      onSuccess: ({ lastResponse }) => resolve(lastResponse.getHeader("Tideline-File-Id")),
    }).start()
  })
}

async function expectStored(id: string | undefined, bytes: Buffer) {
  const response = await ada(`/api/files/${id}`)
  expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
  await purge(id)
}

function expiryOf(response: Response) {
  return Date.parse(response.headers.get("upload-expires") ?? "")
}

async function purge(id: string | null | undefined) {
  expect((await ada(`/api/files/${id}?permanently=1`, { method: "DELETE" })).status).toBe(204)
}

async function reservedBy(email: string) {
  const [row] = await database.db.execute<{ reserved: number }>(
    sql`select reserved::float8 from file_usage join users on users._id = user_id where email = ${email}`,
  )
  return row?.reserved ?? 0
}

/** Bytes of all uploads so far, as found on disk. */
async function storedSize() {
  const sizes = await Promise.all((await storedPaths(app)).map(async (path) => (await stat(path)).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

function commonHeaders() {
  return `Host: localhost\r\nOrigin: ${app.origin}\r\nCookie: ${ada.cookie()}\r\nTus-Resumable: 1.0.0\r\nContent-Type: application/offset+octet-stream\r\n`
}

function headOfPatch(address: string, offset: number, length: number) {
  return `PATCH ${address} HTTP/1.1\r\n${commonHeaders()}Upload-Offset: ${offset}\r\nContent-Length: ${length}\r\n\r\n`
}

function streamOf(...pieces: Uint8Array[]) {
  return toStream(pieces)
}

/** Sends a few bytes now and then, until it is stopped. */
function trickleOf(signal: AbortSignal) {
  return toStream(
    (async function* () {
      while (!signal.aborted) {
        yield new Uint8Array(100)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    })(),
  )
}

function toStream(pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>) {
  return Readable.toWeb(Readable.from(pieces)) as ReadableStream<Uint8Array>
}
