import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import type { Figures } from "../medians.ts"
import { startProgram, type Program } from "../program.ts"
import { now, percentile } from "../statistics.ts"
import { CANDIDATES, PORT, type Candidate, type Running } from "./candidates.ts"
import type { CrowdCommands } from "./crowd.ts"
import { readPostgresCpu } from "./postgres-cpu.ts"
import { DELTAS, INTERVAL } from "./streams.ts"
import type { UpstreamCommands } from "./upstream.ts"

/** The shortest time in which a reply can complete, in ms. */
const ANSWER = DELTAS * INTERVAL

/** All streams of a burst start within this many ms. */
const BURST = 200

export interface Stage {
  databaseUrl: string
  postmaster: number
  /** The application's working directory. */
  folder: string
  /** The server of another build. */
  server?: string
}

export interface Trial {
  stage: Stage
  running: Running
  upstream: Program<UpstreamCommands>
  crowd: Program<CrowdCommands>
  /** CPU time of the idle candidate, in ms per second. */
  idle: number
  /** The next unused stream number. */
  next: number
}

/** Starts an upstream, a candidate and a crowd, and stops them after `work`. */
export async function withTrial(
  stage: Stage,
  candidate: Candidate,
  work: (trial: Trial) => Promise<void>,
): Promise<void> {
  const upstream = startProgram<UpstreamCommands>(program("upstream.ts"))
  const crowd = startProgram<CrowdCommands>(program("crowd.ts"))
  const running = await CANDIDATES[candidate]({ ...stage, upstream: await upstream.ask("port") })
  try {
    await work({ stage, running, upstream, crowd, idle: 0, next: 0 })
  } finally {
    await Promise.all([crowd.stop(), upstream.stop()])
    await running.meter.stop()
  }
}

/** Warms up connections, prepared statements and the JIT before anything is counted. */
export async function warmUp(trial: Trial): Promise<void> {
  const readers = await openReaders(trial, 50, 1)
  await trial.crowd.ask("begin", PORT, readers, { ramp: 2000, again: false })
  await collect(trial)
}

/** Measures the idle CPU time, which is subtracted from all later figures. */
export async function measureIdle(trial: Trial, seconds: number): Promise<Figures> {
  const { meter } = trial.running
  await pause(5000) // until what the warm-up left behind is done
  await meter.ask("start")
  await pause(seconds * 1000)
  const { cpu, memory } = await meter.ask("read")
  trial.idle = cpu / seconds
  return { idle: trial.idle, memory }
}

/**
 * Keeps this many streams open: when one ends, its reader sends another message. Measures for
 * `seconds`, once all streams are running.
 */
export async function measureSteady(trial: Trial, count: number, seconds: number): Promise<Figures> {
  const { crowd, running, stage } = trial
  const ramp = (ANSWER * (count - 1)) / count
  const readers = await openReaders(trial, count, Math.ceil((seconds * 1000 + ramp) / ANSWER) + 1)
  await crowd.ask("begin", PORT, readers, { ramp, again: true })
  await pause(ramp + ANSWER / 10)
  const since = now()
  const postgresBefore = readPostgresCpu(stage.postmaster)
  await running.meter.ask("start")
  await pause(seconds * 1000)
  const { cpu, memory } = await running.meter.ask("read")
  const postgres = readPostgresCpu(stage.postmaster) - postgresBefore
  const until = now()
  const { lags, firsts, failed } = await collect(trial, since, until)
  const answers = lags.length / DELTAS
  return {
    firstP50: percentile(firsts, 0.5),
    firstP99: percentile(firsts, 0.99),
    lagP50: percentile(lags, 0.5),
    lagP99: percentile(lags, 0.99),
    cpu: (cpu - (trial.idle * (until - since)) / 1000) / answers,
    postgres: postgres / answers,
    memory,
    failed,
  }
}

/** Starts this many streams at almost the same time. */
export async function measureBurst(trial: Trial, count: number): Promise<Figures> {
  const readers = await openReaders(trial, count, 1)
  await trial.crowd.ask("begin", PORT, readers, { ramp: BURST, again: false })
  const { firsts, failed } = await collect(trial)
  return { burstP50: percentile(firsts, 0.5), burstP99: percentile(firsts, 0.99), failed }
}

function openReaders(trial: Trial, count: number, turns: number) {
  const stream = trial.next
  trial.next += count * turns
  return trial.running.readers(count, turns, stream)
}

/**
 * Returns the latency in ms that the candidate added between `since` and `until`: `firsts` to the
 * first delta of each reply, `lags` to each delta.
 */
async function collect({ crowd, upstream }: Trial, since = 0, until = Number.POSITIVE_INFINITY) {
  const { asked, streams, deltas, times, failures } = await crowd.ask("finish")
  const source = await upstream.ask("times")
  const lags: number[] = []
  const firsts: number[] = []
  for (const [index, time] of times.entries()) {
    const stream = streams[index] ?? 0
    const delta = deltas[index] ?? 0
    const lag = time - (source.sent[stream * DELTAS + delta] ?? Number.NaN)
    if (time >= since && time <= until) lags.push(lag)
    if (delta > 0) continue
    const begun = asked[stream] ?? Number.NaN
    if (begun >= since && begun <= until) firsts.push(lag + (source.asked[stream] ?? Number.NaN) - begun)
  }
  if (failures.length > 0)
    process.stderr.write(`${failures.length} failed: ${failures.slice(0, 3).join("; ")}\n`)
  return { lags, firsts, failed: failures.length }
}

function program(name: string): string {
  return join(import.meta.dirname, name)
}
