import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { startEmbeddedPostgres } from "#db/embedded/postgres.ts"
import { buildApp, isOutOfDate } from "#server/commands/bundle.ts"
import type { Figures, Measured } from "../medians.ts"
import { rounded } from "../print.ts"
import { startProgram, type Program } from "../program.ts"
import { describeMachine } from "../results.ts"
import { now } from "../statistics.ts"
import { CANDIDATES, startBare, startTideline, type Candidate, type Running } from "./candidates.ts"
import type { ClientCommands } from "./client.ts"
import { report } from "./report.ts"

const MEGABYTE = 1_000_000

/** The file's size in bytes. */
const FULL = 1_000 * MEGABYTE
const SHORT = 128 * MEGABYTE
const WARM_UP = 32 * MEGABYTE

const ROUNDS = 3
/**
 * The time limit in ms. A round starts only if it would end in time when it takes as long as the
 * previous one.
 */
const LONGEST = 150_000

interface Stage {
  client: Program<ClientCommands>
  running: Record<Candidate, Running>
}

/**
 * Uploads a file to both candidates and downloads it, for several rounds, and prints medians.
 * Everything runs on this machine, over loopback, and both write to the same disk. Linux only.
 */
export async function measureFiles({ short }: { short: boolean }): Promise<object> {
  const root = resolve(import.meta.dirname, "../..")
  if (isOutOfDate(root)) await buildApp(root)
  const machine = describeMachine()
  const size = short ? SHORT : FULL
  const measured: Measured<Candidate>[] = []
  let rounds = 0
  await withStage(async (stage) => {
    for (const candidate of CANDIDATES) await measureRound(stage, [candidate], WARM_UP)
    const begun = now()
    for (let lasted = 0; rounds < (short ? 1 : ROUNDS) && now() - begun + lasted < LONGEST; rounds++) {
      const since = now()
      // The order rotates with each round, so that the disk is not always in the state that the
      // same candidate left.
      const order = rounds % 2 === 0 ? CANDIDATES : CANDIDATES.toReversed()
      measured.push(...(await measureRound(stage, order, size)))
      lasted = now() - since
    }
  })
  const medians = report(measured)
  return { machine, rounds, megabytes: size / MEGABYTE, medians, measured }
}

async function withStage(work: (stage: Stage) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "tideline-bench-"))
  const opened: (() => Promise<void>)[] = []
  const open = <Opened extends { stop(): Promise<void> }>(running: Opened) => {
    opened.push(() => running.stop())
    return running
  }
  try {
    const cluster = open(await startEmbeddedPostgres({ directory: join(folder, "postgres") }))
    const bare = await startBare(folder)
    open(bare.meter)
    const tideline = await startTideline(folder, cluster.url)
    open(tideline.meter)
    const client = open(startProgram<ClientCommands>(join(import.meta.dirname, "client.ts")))
    await work({ client, running: { bare, tideline } })
  } finally {
    for (const stop of opened.toReversed()) await stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Takes each measurement from all candidates in direct succession. */
async function measureRound({ client, running }: Stage, order: readonly Candidate[], size: number) {
  const measured: Measured<Candidate>[] = []
  const files = new Map<Candidate, string>()
  for (const candidate of order) {
    const { server } = running[candidate]
    await keep(candidate, "up, in parts of 16 MiB", async () => {
      const { fileId, milliseconds } = await client.ask("sendInParts", server, size)
      files.set(candidate, fileId)
      return milliseconds
    })
  }
  for (const candidate of order) {
    const { server } = running[candidate]
    let fileId = ""
    await keep(candidate, "up, in one request", async () => {
      const sent = await client.ask("sendWhole", server, size)
      fileId = sent.fileId
      return sent.milliseconds
    })
    await client.ask("remove", server, fileId)
  }
  for (const candidate of order) {
    const { server } = running[candidate]
    const fileId = files.get(candidate) ?? ""
    await keep(candidate, "down", () => client.ask("take", server, fileId, size))
    await client.ask("remove", server, fileId)
  }
  return measured

  async function keep(candidate: Candidate, what: string, work: () => Promise<number>): Promise<void> {
    const { meter } = running[candidate]
    await meter.ask("start")
    const { memory: before } = await meter.ask("read")
    const milliseconds = await work()
    const { cpu, memory } = await meter.ask("read")
    const figures: Figures = {
      rate: size / MEGABYTE / (milliseconds / 1000),
      cpu: (cpu / size) * 1000 * MEGABYTE,
      growth: memory - before,
    }
    measured.push({ candidate, what, figures })
    process.stderr.write(`${candidate}, ${what}: ${JSON.stringify(figures, rounded)}\n`)
  }
}
