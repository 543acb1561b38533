import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { startEmbeddedPostgres } from "#db/embedded/postgres.ts"
import { buildApp, builtServer, isOutOfDate } from "#server/commands/bundle.ts"
import { signUp, type Person } from "./accounts.ts"
import { listening } from "./listening.ts"
import { describeMachine } from "./results.ts"
import { median } from "./statistics.ts"
import { startThread } from "./chat/threads.ts"

// node bench/questions-at-once.ts [server of another build] sends 100 messages of one person
// simultaneously, each to a conversation of its own. It measures how long until each is stored, and
// how long a message of another person takes in the meantime.

const QUESTIONS = 100
const ROUNDS = 5
const PORT = 3978
const ORIGIN = `http://localhost:${PORT}`

const root = resolve(import.meta.dirname, "..")
if (isOutOfDate(root)) await buildApp(root)
const folder = mkdtempSync(join(tmpdir(), "tideline-bench-"))
const cluster = await startEmbeddedPostgres({ directory: join(folder, "postgres") })
const builds = [builtServer(root), ...process.argv.slice(2).map((path) => resolve(path))]
const measured = builds.map((): { median: number; slowest: number; other: number }[] => [])
try {
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, build] of builds.entries()) measured[at]?.push(await measure(build))
  }
} finally {
  await cluster.stop()
  rmSync(folder, { recursive: true, force: true })
}
const report = builds.map((build, at) => ({ build, rounds: measured[at] }))
process.stdout.write(`${JSON.stringify({ machine: describeMachine(), report }, null, 2)}\n`)

async function measure(build: string) {
  const server = spawn(process.execPath, [build], {
    cwd: folder,
    stdio: "ignore",
    env: {
      PATH: process.env["PATH"],
      NODE_ENV: "production",
      PORT: String(PORT),
      HOST: "127.0.0.1",
      TRUSTED_PROXIES: "1",
      DATABASE_URL: cluster.url,
      MAIL_INBOX_PORT: "0",
      AI_GATEWAY_API_KEY: "embedded",
      AUTH_SECRET: "a secret for measuring, and for nothing else",
      CHAT_RATE_LIMIT: "100000",
      CHAT_TURNS_AT_ONCE: "200",
    },
  })
  try {
    await listening(PORT)
    const [ada, grace] = [await signUp(ORIGIN, 0), await signUp(ORIGIN, 1)]
    await ask(ada, await startThread(ORIGIN, ada))
    const threads: string[] = []
    for (let at = 0; at < QUESTIONS; at++) threads.push(await startThread(ORIGIN, ada))
    const hers = await startThread(ORIGIN, grace)
    const asking = threads.map((threadId) => ask(ada, threadId))
    const other = await ask(grace, hers)
    const times = await Promise.all(asking)
    return { median: median(times), slowest: Math.round(Math.max(...times)), other }
  } finally {
    server.kill("SIGTERM")
    await once(server, "exit")
  }
}

/** Milliseconds until the message was stored. */
async function ask({ cookie, address }: Person, threadId: string): Promise<number> {
  const begun = performance.now()
  const response = await fetch(`${ORIGIN}/api/chat`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      prefer: "respond-async",
      origin: ORIGIN,
      cookie,
      "x-forwarded-for": address,
    },
    body: JSON.stringify({
      threadId,
      messages: [{ id: crypto.randomUUID(), role: "user", parts: [{ type: "text", text: "Hello" }] }],
    }),
  })
  if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`)
  await response.arrayBuffer()
  return Math.round(performance.now() - begun)
}
