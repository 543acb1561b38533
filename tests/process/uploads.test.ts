import { mkdtempSync, rmSync } from "node:fs"
import { stat } from "node:fs/promises"
import { get, type IncomingMessage } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { fileUsage } from "#db/schema/files.ts"
import { inAll } from "../support/all.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { spawnTideline } from "../support/spawn-tideline.ts"
import { bytesFrom, isSame, memoryOf, sendBytes } from "../support/big-file.ts"
import { openGate } from "../support/gate.ts"
import { ada as adaLovelace, openBrowser, signUp, type Person } from "../support/people.ts"
import { findFreePort } from "../support/ports.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { storedPaths } from "../support/stored-paths.ts"
import { begin, create, metadataOf, offsetOf, uploadAt } from "../support/uploads.ts"

const MEGABYTE = 1_000_000
/** UPLOADS=long sends a file of the largest size that the product accepts. */
const LONG = process.env["UPLOADS"] === "long"
const SIZE = LONG ? 5_000 * MEGABYTE : 100 * MEGABYTE
const INTERRUPTIONS = LONG ? 10 : 4

const SETTINGS = { FILES_MAX_SIZE: "10GB", FILES_QUOTA_FREE: "20GB", LOG_LEVEL: "info" }

test(
  "a large file is uploaded and downloaded through cut connections and killed servers, without resending a byte that had arrived",
  { timeout: LONG ? 900_000 : 180_000 },
  async () => {
    const database = await createTestDatabase()
    const folder = mkdtempSync(join(tmpdir(), "tideline-"))
    const gate = await openGate()
    const port = await findFreePort()
    const start = async () => {
      const started = spawnTideline(folder, {
        ...SETTINGS,
        PORT: String(port),
        APP_URL: gate.origin,
        DATABASE_URL: database.url,
      })
      await started.logged("Tideline is ready")
      return started
    }
    let server = await start()
    onTestFinished(async () => {
      server.child.kill("SIGTERM")
      await server.exited
      await gate.close()
      await database.close()
      rmSync(folder, { recursive: true, force: true })
    })
    gate.leadTo(port)
    const ada = await signUp({ origin: gate.origin }, adaLovelace)
    const app = { dataDir: join(folder, ".data") }
    const upload = await begin(ada, "film.mov", SIZE)

    let fileId: string | null = null
    for (let cut = 1; fileId === null; cut++) {
      const offset = await offsetAfterOutage(ada, upload.address)
      expect(offset).toBe(await storedSize(app))
      const answering = sendBytes(
        new URL(upload.address, gate.origin),
        { method: "PATCH", headers: headersOf(ada, gate.origin, offset, SIZE - offset) },
        bytesFrom(offset, SIZE),
      )
      if (cut > INTERRUPTIONS) {
        const answer = await answering
        expect(answer?.statusCode).toBe(204)
        fileId = String(answer?.headers["tideline-file-id"])
        break
      }
      // Somewhere in the middle of a tenth.
      const where = ((cut - 1 + ((cut * 37) % 100) / 100) / INTERRUPTIONS) * SIZE * 0.98
      await expect.poll(() => storedSize(app), { timeout: 120_000, interval: 20 }).toBeGreaterThan(where)
      if (cut % 2 === 0) gate.shut()
      else {
        server.child.kill("SIGKILL")
        await server.exited
      }
      expect(await answering).toBeNull()
      if (cut % 2 === 0) gate.open()
      else server = await start()
    }

    expect(await isSame(await download(ada, gate.origin, fileId), SIZE)).toBe(true)
  },
)

inAll("the process does not grow with the file", { timeout: LONG ? 900_000 : 180_000 }, async () => {
  const app = await startTideline(SETTINGS)
  onTestFinished(() => app.stop())
  const ada = await signUp(app, adaLovelace)
  // It grows by its first requests, whatever they carry.
  await upAndDown(app, ada, 20 * MEGABYTE)
  const before = memoryOf(app.pid)
  let most = before
  const watching = setInterval(() => (most = Math.max(most, memoryOf(app.pid))), 50)
  onTestFinished(() => clearInterval(watching))
  const [up, down] = await upAndDown(app, ada, SIZE)
  if (LONG) {
    const megabytes = (bytes: number) => `${Math.round(bytes / MEGABYTE)} MB`
    process.stdout.write(
      `${megabytes(before)}, and ${megabytes(most)} at most; ${megabytes(up)}/s up, ${megabytes(down)}/s down\n`,
    )
  }
  expect(most - before).toBeLessThan(50 * MEGABYTE)
})

/** Bytes per second in each direction. */
async function upAndDown(app: TidelineApp, person: Person, size: number) {
  const { address } = await begin(person, "film.mov", size)
  const begun = performance.now()
  const answer = await sendBytes(
    new URL(address, app.origin),
    { method: "PATCH", headers: headersOf(person, app.origin, 0, size) },
    bytesFrom(0, size),
  )
  const sent = performance.now()
  const fileId = String(answer?.headers["tideline-file-id"])
  expect(await isSame(await download(person, app.origin, fileId), size)).toBe(true)
  const received = performance.now()
  await person(`/api/files/${fileId}?permanently=1`, { method: "DELETE" })
  return [size / (sent - begun), size / (received - sent)].map((perMillisecond) => perMillisecond * 1000) as [
    number,
    number,
  ]
}

function download(person: Person, origin: string, fileId: string) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { cookie: person.cookie() }
    get(new URL(`/api/files/${fileId}`, origin), { headers }, resolve).on("error", reject)
  })
}

describe("two processes", () => {
  let folder: string
  let database: Awaited<ReturnType<typeof createTestDatabase>>
  let one: TidelineApp
  let other: TidelineApp
  let ada: Person
  /** The same person's browser, pointed at the other process. */
  let adaAtOther: ReturnType<typeof openBrowser>

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "blobs-"))
    database = await createTestDatabase()
    const settings = {
      ...SETTINGS,
      FILES_QUOTA_FREE: "20MB",
      DATABASE_URL: database.url,
      BLOBS_URL: `file://${folder}/blobs`,
    }
    ;[one, other] = await Promise.all([startTideline(settings), startTideline(settings)])
    ada = await signUp(one, adaLovelace)
    adaAtOther = openBrowser(other, ada.cookies())
  })
  afterAll(async () => {
    await Promise.all([one.stop(), other.stop()])
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test("never exceed the quota with fifty concurrent uploads", async () => {
    const bytes = new Uint8Array(MEGABYTE)
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, number) =>
        create(
          number % 2 ? ada : adaAtOther,
          { "Upload-Length": String(MEGABYTE), "Upload-Metadata": metadataOf(`${number}.bin`) },
          number % 3 ? bytes : undefined,
        ),
      ),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(20)
    expect(statuses.filter((status) => status === 507)).toHaveLength(30)
    const [usage] = await database.db.select().from(fileUsage)
    expect((usage?.used ?? 0) + (usage?.reserved ?? 0)).toBe(20 * MEGABYTE)
    for (const answer of answers) {
      const id = answer.headers.get("tideline-file-id")
      const address = answer.headers.get("location")
      if (id) await ada(`/api/files/${id}?permanently=1`, { method: "DELETE" })
      else if (address) await uploadAt(ada, address).cancel()
    }
    expect(
      await database.db.select({ used: fileUsage.used, reserved: fileUsage.reserved }).from(fileUsage),
    ).toEqual([{ used: 0, reserved: 0 }])
  })

  test("give an upload to one of two concurrent requests", async () => {
    const upload = await begin(ada, "a.bin", 10 * MEGABYTE)
    const elsewhere = uploadAt(adaAtOther, upload.address)
    const first = trickle(one, upload.address)
    await expect.poll(() => storedSize({ dataDir: folder })).toBeGreaterThan(0)
    const [patched, probed] = await Promise.all([elsewhere.patch(0, new Uint8Array(10)), elsewhere.head()])
    expect([patched.status, probed.status]).toEqual([423, 423])
    first.stop()
    expect((await first.answer)?.statusCode).toBe(204)
    expect(await offsetOf(elsewhere)).toBe(Number((await first.answer)?.headers["upload-offset"]))
    await upload.cancel()
  })

  test("let a request at one replace a stalled request at the other", async () => {
    const upload = await begin(ada, "a.bin", 1000)
    const silence = Promise.withResolvers<void>()
    async function* bytesThenSilence() {
      yield Buffer.alloc(300, "a")
      await silence.promise
    }
    const headers = headersOf(ada, one.origin, 0, null)
    const address = new URL(upload.address, one.origin)
    const stalled = sendBytes(address, { method: "PATCH", headers }, bytesThenSilence())
    await expect.poll(() => storedSize({ dataDir: folder })).toBe(300)
    const elsewhere = uploadAt(adaAtOther, upload.address)
    const last = await elsewhere.patch(300, Buffer.alloc(700, "b"))
    expect(last.status).toBe(204)
    expect((await stalled)?.statusCode).toBe(423)
    silence.resolve()
    await ada(`/api/files/${last.headers.get("tideline-file-id")}?permanently=1`, { method: "DELETE" })
  })

  test("abort a request at one when its upload is cancelled at the other", async () => {
    const upload = await begin(ada, "a.bin", 10 * MEGABYTE)
    const first = trickle(one, upload.address)
    await expect.poll(() => storedSize({ dataDir: folder })).toBeGreaterThan(0)
    expect((await uploadAt(adaAtOther, upload.address).cancel()).status).toBe(204)
    expect((await first.answer)?.statusCode).toBe(410)
    first.stop()
    await expect.poll(() => storedPaths({ dataDir: folder })).toEqual([])
  })

  test("take over from one that is told to stop, which stops immediately", async () => {
    const upload = await begin(ada, "a.bin", 10 * MEGABYTE)
    const sending = trickle(other, upload.address)
    await expect.poll(() => storedSize({ dataDir: folder })).toBeGreaterThan(0)
    process.kill(other.pid, "SIGTERM")
    expect((await sending.answer)?.statusCode).toBe(503)
    sending.stop()
    expect(await other.exited).toBe(0)
    const offset = await offsetOf(upload)
    expect(offset).toBeGreaterThan(0)
    const last = await upload.patch(offset, new Uint8Array(10 * MEGABYTE - offset))
    expect(last.headers.get("tideline-file-id")).not.toBeNull()
  })

  /** Sends bytes now and then until it is stopped. */
  function trickle(app: TidelineApp, address: string) {
    let isOver = false
    async function* pieces() {
      while (!isOver) {
        yield Buffer.alloc(1000)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    const headers = headersOf(ada, app.origin, 0, null)
    return {
      answer: sendBytes(new URL(address, app.origin), { method: "PATCH", headers }, pieces()),
      stop: () => void (isOver = true),
    }
  }
})

function headersOf(
  person: Person,
  origin: string,
  offset: number,
  length: number | null,
): Record<string, string> {
  return {
    cookie: person.cookie(),
    origin,
    "tus-resumable": "1.0.0",
    "content-type": "application/offset+octet-stream",
    "upload-offset": String(offset),
    ...(length !== null && { "content-length": String(length) }),
  }
}

/**
 * Retries as a client does, while the server is not up yet or has not noticed that the connection
 * is gone.
 */
async function offsetAfterOutage(person: Person, address: string): Promise<number> {
  const upload = uploadAt(person, address)
  const ask = async () => (await upload.head().catch(() => null))?.status ?? 0
  await expect.poll(ask, { timeout: 30_000 }).toBe(200)
  return offsetOf(upload)
}

async function storedSize(app: { dataDir: string }): Promise<number> {
  const sizes = await Promise.all(
    (await storedPaths(app)).map((path) =>
      stat(path).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
