import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { files, fileUsage, idempotencyKeys, uploads } from "#db/schema/files.ts"
import { generator } from "../realtime/support/form.ts"
import { openGate } from "../support/gate.ts"
import { ada as adaLovelace, signUp } from "../support/people.ts"
import { findFreePort } from "../support/ports.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { spawnTideline } from "../support/spawn-tideline.ts"

const LONG = process.env["UPLOADS"] === "long"
const SEED = Number(process.env["SEED"] ?? 20_261_127)
const FILES = LONG ? 5000 : 150
const INTERRUPTIONS = LONG ? 200 : 8
/** As many as the page sends at a time. */
const AT_ONCE = 3
/** Milliseconds between attempts while the server is away. */
const PAUSE = 100

test(
  `${FILES} small files are stored once each, through ${INTERRUPTIONS} cuts, pauses, kills and reloads`,
  { timeout: LONG ? 1_500_000 : 240_000 },
  async () => {
    const chance = generator(SEED)
    const database = await createTestDatabase()
    const folder = mkdtempSync(join(tmpdir(), "tideline-"))
    const gate = await openGate()
    const port = await findFreePort()
    const start = async () => {
      const env = { PORT: String(port), APP_URL: gate.origin, DATABASE_URL: database.url }
      const started = spawnTideline(folder, { ...env, FILES_QUOTA_FREE: "1GB" })
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

    const waiting = Array.from({ length: FILES }, (_, id) => id)
    const total = waiting.reduce((sum, id) => sum + contentOf(id).length, 0)
    let stored = 0
    let sentAgain = 0
    let interruption = new AbortController()

    const sendOne = async (id: number) => {
      const response = await ada(`/api/files?name=receipt-${id}.txt`, {
        method: "POST",
        headers: { "Idempotency-Key": `"queue-${id}"`, "Content-Type": "application/octet-stream" },
        body: contentOf(id),
        signal: interruption.signal,
      }).catch(() => null)
      if (response?.status === 201) return true
      // What a page takes for a refusal, and would not send again.
      const isPassing = !response || response.status === 409 || response.status >= 500
      if (!isPassing) throw new Error(`${response.status}: ${await response.text()}`)
      return false
    }
    const work = async () => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
        if (await sendOne(id)) stored++
        else {
          sentAgain++
          waiting.push(id)
          await pause()
        }
      }
    }
    const interrupt = async (kind: number) => {
      switch (kind) {
        // A pause or a reload of the page: its requests are aborted.
        case 0:
          interruption.abort()
          interruption = new AbortController()
          break
        case 1:
          gate.shut()
          await pause()
          gate.open()
          break
        // A network that loses everything without a word.
        case 2:
          gate.swallow()
          await pause()
          gate.open()
          break
        default:
          server.child.kill("SIGKILL")
          await server.exited
          server = await start()
      }
    }

    const working = Promise.all(Array.from({ length: AT_ONCE }, work))
    for (let done = 0; done < INTERRUPTIONS; done++) {
      const at = ((done + chance.below(1000) / 1000) / (INTERRUPTIONS + 1)) * FILES
      await expect
        .poll(() => stored, { timeout: 120_000, interval: 2 })
        .toBeGreaterThanOrEqual(Math.floor(at))
      await interrupt(chance.below(4))
    }
    await working

    expect(await database.db.$count(files), `seed ${SEED}`).toBe(FILES)
    const names = await database.db.selectDistinct({ fileName: files.fileName }).from(files)
    expect(names).toHaveLength(FILES)
    expect(names.filter(({ fileName }) => fileName.includes("("))).toEqual([])
    expect(await database.db.$count(idempotencyKeys)).toBe(FILES)
    expect(sentAgain).toBeGreaterThan(0)
    // What a killed process had reserved is free again as soon as another sees that it has died.
    await expect.poll(() => database.db.$count(uploads), { timeout: 30_000 }).toBe(0)
    const usage = await database.db
      .select({ used: fileUsage.used, reserved: fileUsage.reserved })
      .from(fileUsage)
    expect(usage).toEqual([{ used: total, reserved: 0 }])
    if (LONG)
      console.log(`seed ${SEED}: ${FILES} files, ${INTERRUPTIONS} interruptions, ${sentAgain} sent again`)
  },
)

function contentOf(id: number): string {
  return `Receipt ${id}. `.repeat(1 + ((id * 7919) % 400))
}

function pause() {
  return new Promise((resolve) => setTimeout(resolve, PAUSE))
}
