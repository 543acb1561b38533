import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import type { Figures, Measured } from "../medians.ts"
import { rounded } from "../print.ts"
import { startProgram, type Program } from "../program.ts"
import { PORT, startCandidate, type Candidate, type Setting } from "./candidates.ts"
import type { ClientCommands, Load } from "./client.ts"
import { cpuOf, memoryOf, stopServer, type Served } from "./processes.ts"
import { POST, type Recorded } from "./record.ts"
import { report } from "./report.ts"
import { inTurn, withStage } from "./stage.ts"

const ROUNDS = 3
const CONNECTIONS = 50

/** Seconds that each measurement and its warm-up take. */
const FULL = { seconds: 4, warmUp: 2 }
const SHORT = { seconds: 2, warmUp: 1 }

interface Target {
  what: string
  paths: Partial<Record<Candidate, string>>
  headers: readonly string[]
}

/**
 * Runs the candidates in turn for several rounds, and prints medians. Everything runs on this
 * machine, over loopback. Linux only.
 */
export async function measureHttp({ short }: { short: boolean }): Promise<object> {
  return withStage(async ({ setting, recorded, machine }) => {
    const client = startProgram<ClientCommands>(join(import.meta.dirname, "client.ts"))
    try {
      const targets = targetsOf(recorded)
      const measured: Measured<Candidate>[] = []
      const rounds = short ? 1 : ROUNDS
      for (let round = 0; round < rounds; round++) {
        for (const candidate of inTurn(CANDIDATES, round))
          measured.push(
            ...(await measureOne({ setting, client, targets, candidate, ...(short ? SHORT : FULL) })),
          )
      }
      return { machine, rounds, medians: report(measured), measured }
    } finally {
      await client.stop()
    }
  })
}

const CANDIDATES: Candidate[] = ["bare", "fastify", "next", "tideline"]

function targetsOf({ person, asset }: Recorded): Target[] {
  const signedIn = [`Cookie: ${person.cookie}`, `X-Forwarded-For: ${person.address}`]
  return [
    {
      what: "/api/health",
      paths: { ...everywhere("/api/health"), fastify: "/api/health", next: "/api/health" },
      headers: ["X-Forwarded-For: {address}"],
    },
    { what: "/, kept", paths: { ...everywhere("/"), next: "/" }, headers: [] },
    // A URL with a query string is never served from the page cache.
    { what: "/, rendered", paths: { tideline: "/?rendered", next: "/rendered" }, headers: [] },
    { what: "a blog post", paths: everywhere(POST), headers: [] },
    { what: "a static file", paths: everywhere(asset), headers: [] },
    { what: "/dashboard", paths: { tideline: "/dashboard", next: "/dashboard" }, headers: signedIn },
  ]
}

function everywhere(path: string) {
  return { bare: path, tideline: path }
}

interface Trial {
  setting: Setting
  client: Program<ClientCommands>
  targets: readonly Target[]
  candidate: Candidate
  seconds: number
  warmUp: number
}

async function measureOne(trial: Trial): Promise<Measured<Candidate>[]> {
  const { setting, targets, candidate } = trial
  const served = await startCandidate(candidate, setting)
  const measured: Measured<Candidate>[] = []
  try {
    await pause(2000)
    keep("idle", { memory: memoryOf(pidOf(served)) })
    for (const { what, paths, headers } of targets) {
      const path = paths[candidate]
      if (path) keep(what, await measureLoad(trial, served, { path, headers, connections: CONNECTIONS }))
    }
    const crowd = { path: "/api/health", headers: ["X-Forwarded-For: {address}"], connections: 1000 }
    keep("1,000 connections", await measureLoad(trial, served, crowd))
  } finally {
    await stopServer(served)
  }
  return measured

  function keep(what: string, figures: Figures): void {
    measured.push({ candidate, what, figures })
    process.stderr.write(`${candidate}, ${what}: ${JSON.stringify(figures, rounded)}\n`)
  }
}

/** `cpu` is the server's CPU time in microseconds per response. */
async function measureLoad(
  { client, seconds, warmUp }: Trial,
  served: Served,
  asked: Pick<Load, "path" | "headers" | "connections">,
): Promise<Figures> {
  const pid = pidOf(served)
  const done = client.ask("run", { ...asked, port: PORT, warmUp, seconds, status: 200 })
  await pause((warmUp + 0.2) * 1000)
  const before = cpuOf(pid)
  const begun = performance.now()
  await pause((seconds - 0.4) * 1000)
  const share = (cpuOf(pid) - before) / (performance.now() - begun)
  const { perSecond, p50, p99, failed } = await done
  return { perSecond, p50, p99, cpu: (share * 1_000_000) / perSecond, memory: memoryOf(pid), failed }
}

function pidOf({ child }: Served): number {
  if (child.pid === undefined) throw new Error("The server has no process.")
  return child.pid
}
