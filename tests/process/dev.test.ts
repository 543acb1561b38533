import { spawn } from "node:child_process"
import { once } from "node:events"
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { expect, it, onTestFinished } from "vitest"
import { findFreePort } from "../support/ports.ts"
import { createTestDatabase } from "../support/postgres.ts"

const root = resolve(import.meta.dirname, "../..")
const SOURCES = [
  "app",
  "server",
  "db",
  "live",
  "docs",
  "public",
  "package.json",
  "tsconfig.json",
  ".env.example",
]
const CONFIGS = ["vite", "react-router", "languages", "lingui"].map((name) => `${name}.config.ts`)

// `npm run test:dev`. It starts Vite twice, from the sources, which is as much work as a hundred other tests.
it.runIf(process.env["DEV_COMMAND"])(
  "npm run dev restarts for a file that Node loaded, replaces a page without a restart, and prints no warning",
  async () => {
    const dev = await startDev()
    const begun = await dev.nextStart()
    const page = () => fetch(`${begun.url}/features`).then((response) => response.text())
    expect(await page()).not.toContain("changed by the test")

    const route = join(dev.folder, "app/routes/marketing/features.tsx")
    const source = readFileSync(route, "utf8")
    writeFileSync(route, source.replace("<Trans>Ready to try it?</Trans>", "<p>changed by the test</p>"))
    await expect.poll(page).toContain("changed by the test")

    appendFileSync(join(dev.folder, "live/server/sockets.ts"), "// changed by the test\n")
    const restarted = await dev.nextStart()
    expect(restarted.pid).not.toBe(begun.pid)
    expect(dev.output.filter((line) => /warn|deprecated/i.test(line))).toEqual([])
  },
  240_000,
)

/** Runs `npm run dev` in a copy of the sources. */
async function startDev() {
  const database = await createTestDatabase()
  const folder = mkdtempSync(join(tmpdir(), "tideline-dev-"))
  for (const name of [...SOURCES, ...CONFIGS])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  const child = spawn("npm", ["run", "dev"], {
    cwd: folder,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      DATABASE_URL: database.url,
      PORT: String(await findFreePort()),
      MAIL_INBOX_PORT: "0",
    },
  })
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on("line", (line) => output.push(line))
  const exited = once(child, "close")
  onTestFinished(async () => {
    // Like Ctrl+C: signals npm and everything that it started.
    process.kill(-Number(child.pid), "SIGINT")
    await exited
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const starts = () => output.filter((line) => line.includes('"msg":"Tideline is ready"'))
  let seen = 0
  return {
    folder,
    output,
    /** Resolves with the next start that no earlier call has returned. */
    async nextStart() {
      await expect.poll(() => starts().length, { timeout: 120_000 }).toBeGreaterThan(seen)
      return JSON.parse(starts()[seen++] ?? "") as { pid: number; url: string }
    },
  }
}
