import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { chromium, type Page } from "playwright-core"
import postgres from "postgres"
import { startEmbeddedPostgres } from "../db/embedded/postgres.ts"
import { buildApp, builtServer, isOutOfDate } from "../server/commands/bundle.ts"
import { listening } from "./listening.ts"
import { describeMachine } from "./results.ts"

interface Stage {
  sql: postgres.Sql
  /** Belongs to a signed-in user who has completed onboarding. */
  page: Page
  machine: ReturnType<typeof describeMachine>
}

/** Starts the built server with a database of its own, and a browser. */
export async function withPage(port: number, work: (stage: Stage) => Promise<void>): Promise<void> {
  const root = resolve(import.meta.dirname, "..")
  if (isOutOfDate(root)) await buildApp(root)
  const machine = describeMachine()
  const folder = mkdtempSync(join(tmpdir(), "tideline-bench-"))
  const cluster = await startEmbeddedPostgres({ directory: join(folder, "postgres") })
  const server = spawn(process.execPath, [builtServer(root)], {
    cwd: folder,
    stdio: "ignore",
    env: {
      PATH: process.env["PATH"],
      NODE_ENV: "production",
      PORT: String(port),
      HOST: "127.0.0.1",
      DATABASE_URL: cluster.url,
      MAIL_INBOX_PORT: "0",
      AI_GATEWAY_API_KEY: "embedded",
      AUTH_SECRET: "a secret for measuring, and for nothing else",
    },
  })
  await listening(port)
  const sql = postgres(cluster.url, { max: 1, onnotice: () => {} })
  const browser = await chromium.launch({
    executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu"],
  })
  try {
    const page = await browser.newPage({
      baseURL: `http://localhost:${port}`,
      viewport: { width: 1440, height: 900 },
    })
    page.setDefaultTimeout(60_000)
    await signUp(page, `http://localhost:${port}`)
    await sql`update users set onboarding_completed = true`
    await work({ sql, page, machine })
  } finally {
    await browser.close()
    await sql.end()
    server.kill("SIGTERM")
    await once(server, "exit")
    await cluster.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function signUp(page: Page, origin: string) {
  const account = { name: "Ada Lovelace", email: "ada@example.org", password: "an engine of brass and cards" }
  await page.request.post("/api/auth/sign-up/email", { data: account, headers: { origin } })
  // The first page that a new user requests creates their record.
  await page.request.get("/dashboard")
}

/** Loads the page in full, as after a reload. Milliseconds since the navigation began. */
export async function opening(page: Page, path: string, ready: (page: Page) => Promise<void>) {
  const times: { html: number; painted: number; ready: number }[] = []
  for (let round = 0; round < 5; round++) {
    await page.goto(path)
    await ready(page)
    times.push(
      await page.evaluate(() => {
        const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[]
        const painted = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0
        return {
          html: Math.round(navigation?.responseEnd ?? 0),
          painted: Math.round(painted),
          ready: Math.round(navigation?.loadEventEnd ?? 0),
        }
      }),
    )
  }
  return times
}
