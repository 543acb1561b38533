import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { Agent, request } from "node:http"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { findFreePort } from "../tests/support/ports.ts"

// Measures whether memory stays flat when every request to /api/health has a different
// `x-forwarded-for`. For comparison it first sends a fifth as many requests with the same one.
// Build first, then run: node bench/limiter-memory.ts [--requests 1000000] [--connections 64]

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "1000000" },
    connections: { type: "string", default: "64" },
  },
})
const requests = Number(values.requests)
const connections = Number(values.connections)

const server = await startServer()
const agent = new Agent({ keepAlive: true, maxSockets: connections })

try {
  process.stdout.write("One key\n")
  await measure(requests / 5, () => "198.51.100.1")
  process.stdout.write("A key for every request\n")
  await measure(requests, addressOf)
} finally {
  agent.destroy()
  await server.stop()
}

async function measure(total: number, keyOf: (number: number) => string) {
  const begun = performance.now()
  const statuses = new Map<number, number>()
  let sent = 0
  report(sent)
  for (let tenth = 1; tenth <= 10; tenth++) {
    await Promise.all(Array.from({ length: connections }, () => sendUntil(Math.round((total / 10) * tenth))))
    report(sent)
  }
  const counts = [...statuses].map(([status, count]) => `${count} times ${status}`).join(", ")
  const perSecond = Math.round((sent / (performance.now() - begun)) * 1000)
  process.stdout.write(`${counts}; ${perSecond} a second\n`)

  async function sendUntil(last: number) {
    while (sent < last) {
      const status = await getHealth(keyOf(sent++))
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
}

function addressOf(number: number) {
  return `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}, 2001:db8::${number.toString(16)}`
}

async function getHealth(forwardedFor: string): Promise<number> {
  const asked = request({
    agent,
    host: "127.0.0.1",
    port: server.port,
    path: "/api/health",
    headers: { "x-forwarded-for": forwardedFor },
  })
  const [response] = await once(asked.end(), "response")
  response.resume()
  await once(response, "end")
  return response.statusCode
}

function report(sent: number) {
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8")
  const resident = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
  process.stdout.write(
    `${String(sent).padStart(9)} requests  ${resident.toFixed(0).padStart(5)} MB resident\n`,
  )
}

async function startServer() {
  const port = await findFreePort()
  const folder = mkdtempSync(join(tmpdir(), "tideline-bench-"))
  const child = spawn(process.execPath, [resolve(import.meta.dirname, "../build/server/index.js")], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PATH: process.env["PATH"],
      NODE_ENV: "production",
      HOST: "127.0.0.1",
      PORT: String(port),
      MAIL_INBOX_PORT: "0",
      AUTH_SECRET: "a secret for this measurement, and for nothing else",
    },
  })
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    if (String(chunk).includes("Tideline is ready")) break
  }
  child.stdout.resume()
  return {
    port,
    pid: child.pid,
    async stop() {
      child.kill("SIGTERM")
      await once(child, "exit")
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
