import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { buildApp, builtServer, isOutOfDate } from "../server/commands/bundle.ts"

// How long the built server takes from its start to the first 200, on an embedded database that is initialised already,
// and what memory it holds when it has been idle for ten seconds. Linux only: it reads /proc.

const ROUNDS = 7
const PORT = 3977

const root = resolve(import.meta.dirname, "..")
if (isOutOfDate(root)) await buildApp(root)
const folder = mkdtempSync(join(tmpdir(), "tideline-bench-"))

const first = await start()
const results = { health: [] as number[], page: [] as number[] }
await stop(first.child)
for (const path of ["health", "page"] as const) {
  for (let round = 0; round < ROUNDS; round += 1) {
    const { child, milliseconds } = await start(path === "health" ? "/api/health" : "/")
    results[path].push(milliseconds)
    await stop(child)
  }
}
const { child } = await start()
await delay(10_000)
const memory = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]
await stop(child)
rmSync(folder, { recursive: true, force: true })

const report = {
  firstStartMs: Math.round(first.milliseconds),
  healthMs: spread(results.health),
  pageMs: spread(results.page),
  idleMegabytes: Math.round(Number(memory) / 1024),
}
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)

async function start(path = "/api/health") {
  const begun = performance.now()
  const server = spawn(process.execPath, [builtServer(root)], {
    cwd: folder,
    stdio: "ignore",
    env: {
      PATH: process.env["PATH"],
      NODE_ENV: "production",
      PORT: String(PORT),
      HOST: "127.0.0.1",
      MAIL_INBOX_PORT: "0",
      AUTH_SECRET: "a secret for measuring, and for nothing else",
    },
  })
  while (!(await answers(`http://127.0.0.1:${PORT}${path}`))) await delay(5)
  return { child: server, milliseconds: performance.now() - begun }
}

async function answers(address: string) {
  try {
    const response = await fetch(address)
    await response.arrayBuffer()
    return response.status === 200
  } catch {
    return false
  }
}

async function stop(server: Awaited<ReturnType<typeof start>>["child"]) {
  server.kill("SIGTERM")
  await once(server, "exit")
}

function spread(values: number[]) {
  const sorted = values.toSorted((a, b) => a - b).map((value) => Math.round(value))
  return { median: sorted[Math.floor(sorted.length / 2)], least: sorted[0], most: sorted.at(-1) }
}
