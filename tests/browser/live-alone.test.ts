import { spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { sql } from "drizzle-orm"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { launchBrowser } from "../support/browser.ts"
import { findFreePort } from "../support/ports.ts"
import { createTestDatabase } from "../support/postgres.ts"

const root = resolve(import.meta.dirname, "../..")
const EXAMPLE = ["app", "engine.ts", "react-router.config.ts", "server.ts", "vite.config.ts"]

let folder: string
let origin: string
let database: Awaited<ReturnType<typeof createTestDatabase>>
let browser: Browser
let server: ReturnType<typeof run>

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tideline-live-alone-"))
  cpSync(join(root, "live"), join(folder, "live"), { recursive: true })
  for (const part of EXAMPLE)
    cpSync(join(root, "live/example", part), join(folder, part), { recursive: true })
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  const { imports, dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    imports: Record<string, string>
    dependencies: object
  }
  const entries = Object.entries(imports).filter(([name]) => name.startsWith("#live/"))
  const manifest = { type: "module", imports: Object.fromEntries(entries), dependencies }
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest))

  const build = run([join(root, "node_modules/@react-router/dev/bin.js"), "build"])
  expect(await build.ended, build.output()).toBe(0)
  const port = await findFreePort()
  origin = `http://localhost:${port}`
  database = await createTestDatabase({ empty: true })
  server = await start()
  browser = await launchBrowser()
})

afterAll(async () => {
  await browser?.close()
  await stop()
  await database?.close()
  rmSync(folder, { recursive: true, force: true })
})

describe("the engine's example, in a folder with live/ alone", () => {
  it("has at most 100 lines, blank ones left out", () => {
    const files = globSync(`${root}/live/example/**/*.{ts,tsx}`)
    const lines = files.flatMap((file) => readFileSync(file, "utf8").split("\n").filter(Boolean))
    expect(files.length).toBeGreaterThan(5)
    expect(lines.length).toBeLessThanOrEqual(100)
  })

  it("shows in one browser what is added in another", async () => {
    const [writer, reader] = [await open(), await open()]
    await writer.getByLabel("Note").fill("The tide comes in")
    await writer.keyboard.press("Enter")
    await expect.poll(() => notesOf(reader)).toEqual(["The tide comes in"])
    expect(await notesOf(writer)).toEqual(["The tide comes in"])
  })

  it("shows after a lost connection what was written in the meantime, and renders it", async () => {
    const reader = await open()
    await write("1", "It comes in twice")
    await expect.poll(() => notesOf(reader)).toContain("It comes in twice")
    await stop()
    await write("2", "and goes out")
    server = await start()
    await expect.poll(() => notesOf(reader), { timeout: 30_000 }).toContain("and goes out")
    expect(await (await fetch(origin)).text()).toContain("and goes out")
  })
})

async function start() {
  const started = run(["build/server/index.js"], { DATABASE_URL: database.url, ORIGIN: origin })
  await vi.waitFor(async () => expect((await fetch(origin)).status, started.output()).toBe(200), 30_000)
  return started
}

async function stop() {
  server?.child.kill()
  await server?.ended
}

async function open(): Promise<Page> {
  const page = await (await browser.newContext()).newPage()
  await page.goto(origin)
  return page
}

const write = (id: string, body: string) =>
  database.db.execute(sql`insert into notes values (${id}, 'harbour', ${body})`)

const notesOf = (page: Page) => page.locator("p").allTextContents()

function run(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, NODE_ENV: "production", NO_COLOR: "1", ...env },
  })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)))
  return { child, ended: once(child, "close").then(([code]) => code as number), output: () => output }
}
