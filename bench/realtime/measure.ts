import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startEmbeddedPostgres } from "#db/embedded/postgres.ts"
import type { Figures, Measured } from "../medians.ts"
import { rounded } from "../print.ts"
import { describeMachine } from "../results.ts"
import { measureUndisturbed } from "../undisturbed.ts"
import type { Way } from "./client/conversation.ts"
import { MEMBERS } from "./notes.ts"
import { report } from "./report.ts"
import type { Candidate } from "./server.ts"
import {
  joinShared,
  measureBroadcast,
  measureMemory,
  measureRate,
  measureReconnect,
  warmUp,
  withTrial,
  type Durations,
  type Trial,
} from "./trial.ts"

const FULL: Durations = { slowWrites: 12, seconds: 3, broadcasts: 6 }
const SHORT: Durations = { slowWrites: 2, seconds: 1, broadcasts: 3 }
const ROUNDS = 3
const CROWD = 5000
const CANDIDATES: Candidate[] = ["floor", "tideline", "notify"]

/**
 * Runs the candidates in turn for several rounds on one PostgreSQL, and prints medians. Everything
 * runs on this machine, over loopback.
 */
export async function measureRealtime({ short }: { short: boolean }): Promise<object> {
  const machine = describeMachine()
  const directory = mkdtempSync(join(tmpdir(), "tideline-bench-"))
  // Durable as in production, because the cost of commits is part of the measurement.
  const cluster = await startEmbeddedPostgres({ directory, settings: { shared_buffers: "256MB" } })
  try {
    const durations = short ? SHORT : FULL
    const rounds = short ? 1 : ROUNDS
    const measured: Measured<Candidate>[] = []
    for (let round = 0; round < rounds; round++) {
      // The order rotates with each round, so that no candidate always runs after the same one.
      const order = CANDIDATES.map((_, index) => CANDIDATES[(index + round) % CANDIDATES.length] ?? "floor")
      for (const candidate of order) measured.push(...(await measureOne(cluster.url, candidate, durations)))
      measured.push(...(await measureBare(cluster.url)))
    }
    const medians = report(measured)
    return { machine, rounds, durations, medians, measured }
  } finally {
    await cluster.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function measureOne(
  cluster: string,
  candidate: Candidate,
  durations: Durations,
): Promise<Measured<Candidate>[]> {
  const measured: Measured<Candidate>[] = []
  await withTrial(cluster, candidate, async (trial) => {
    await trial.crowd.ask("openOne")
    await rates(trial, 1, [1, 100, 1000])
    await trial.crowd.ask("closeOne")
  })
  await withTrial(cluster, candidate, async (trial) => {
    await trial.crowd.ask("open", 1000)
    await rates(trial, 1000, [1, 100, 1000])
    keep("broadcast to 1000", await measureBroadcasts(trial, 1000))
  })
  if (candidate === "tideline") await measureSpaces()
  await withTrial(cluster, candidate, async (trial) => {
    keep(`${CROWD} idle sockets`, await measureMemory(trial, CROWD))
  })
  await withTrial(cluster, candidate, async (trial) => {
    await trial.crowd.ask("open", CROWD)
    await rates(trial, CROWD, [100, 1000, 4000])
    keep(`reconnect of ${CROWD}, reading again`, await measureReconnect(trial, false))
    if (candidate === "tideline") keep(`reconnect of ${CROWD}, resuming`, await measureReconnect(trial, true))
    keep(`broadcast to ${CROWD}`, await measureBroadcasts(trial, CROWD))
  })
  return measured

  async function measureSpaces(): Promise<void> {
    await withTrial(cluster, candidate, async (trial) => {
      await trial.crowd.ask("open", MEMBERS)
      await warmUp(trial, MEMBERS)
      keep("commit to 1000 members of a space", await measureBroadcasts(trial, MEMBERS, "inSpace"))
    })
    for (const [what, ways] of [
      ["1000 idle sockets", []],
      ["1000 idle sockets of members of 50 spaces", ["ofMember"]],
    ] as const)
      await withTrial(cluster, candidate, async (trial) => {
        keep(what, await measureMemory(trial, MEMBERS, ways))
      })
  }

  async function rates(trial: Trial, sockets: number, all: number[]): Promise<void> {
    await warmUp(trial, sockets)
    for (const perSecond of all) {
      const what = `${perSecond} writes/s, ${sockets} ${sockets === 1 ? "socket" : "sockets"}`
      keep(what, await measureUndisturbed(() => measureRate(trial, perSecond, sockets, durations)))
    }
  }

  async function measureBroadcasts(trial: Trial, sockets: number, way?: Way): Promise<Figures> {
    await joinShared(trial, sockets, way)
    return measureUndisturbed(() => measureBroadcast(trial, sockets, durations))
  }

  function keep(what: string, figures: Figures): void {
    measured.push({ candidate, what, figures })
    process.stderr.write(`${candidate}, ${what}: ${JSON.stringify(figures, rounded)}\n`)
  }
}

async function measureBare(cluster: string): Promise<Measured<Candidate>[]> {
  return withTrial(cluster, "bare", async (trial) => {
    const figures = await measureMemory(trial, CROWD)
    process.stderr.write(`bare, ${CROWD} idle sockets: ${JSON.stringify(figures, rounded)}\n`)
    return [{ candidate: "bare", what: `${CROWD} idle sockets`, figures }]
  })
}
