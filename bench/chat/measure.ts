import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { startEmbeddedPostgres } from "#db/embedded/postgres.ts"
import { buildApp, isOutOfDate } from "#server/commands/bundle.ts"
import type { Figures, Measured } from "../medians.ts"
import { rounded } from "../print.ts"
import { describeMachine } from "../results.ts"
import type { Candidate } from "./candidates.ts"
import { report } from "./report.ts"
import { measureBurst, measureIdle, measureSteady, warmUp, withTrial, type Stage } from "./trial.ts"

const CANDIDATES: Candidate[] = ["raw", "plain", "tideline"]
const ROUNDS = 3

/** Seconds that each measurement takes. */
const FULL = 15
const SHORT = 5

/**
 * Runs the candidates in turn for several rounds, and prints medians. Everything runs on this
 * machine, over loopback. Linux only.
 */
export async function measureChat({ short }: { short: boolean }): Promise<object> {
  const root = resolve(import.meta.dirname, "../..")
  if (isOutOfDate(root)) await buildApp(root)
  const machine = describeMachine()
  const folder = mkdtempSync(join(tmpdir(), "tideline-bench-"))
  // Durability and settings as in production, because the cost of commits is part of the
  // measurement.
  const cluster = await startEmbeddedPostgres({ directory: join(folder, "postgres") })
  try {
    const seconds = short ? SHORT : FULL
    const rounds = short ? 1 : ROUNDS
    const stage = { databaseUrl: cluster.url, postmaster: cluster.pid, folder }
    const measured: Measured<Candidate>[] = []
    for (let round = 0; round < rounds; round++) {
      // The order rotates with each round, so that no candidate always runs after the same one.
      const order = CANDIDATES.map((_, index) => CANDIDATES[(index + round) % CANDIDATES.length] ?? "raw")
      for (const candidate of order) measured.push(...(await measureOne(stage, candidate, seconds)))
    }
    const medians = report(measured)
    return { machine, rounds, seconds, medians, measured }
  } finally {
    await cluster.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measureOne(stage: Stage, candidate: Candidate, seconds: number) {
  const measured: Measured<Candidate>[] = []
  await withTrial(stage, candidate, async (trial) => {
    await warmUp(trial)
    keep("nobody", await measureIdle(trial, seconds))
    for (const count of [1, 50, 200]) {
      keep(`${count} ${count === 1 ? "stream" : "streams"}`, await measureSteady(trial, count, seconds))
    }
    keep("200 that begin at once", await measureBurst(trial, 200))
  })
  return measured

  function keep(what: string, figures: Figures): void {
    measured.push({ candidate, what, figures })
    process.stderr.write(`${candidate}, ${what}: ${JSON.stringify(figures, rounded)}\n`)
  }
}
