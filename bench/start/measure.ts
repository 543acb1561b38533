import { setTimeout as pause } from "node:timers/promises"
import { startCandidate, type Candidate, type Setting } from "../http/candidates.ts"
import { memoryOf, stopServer } from "../http/processes.ts"
import { inTurn, withStage } from "../http/stage.ts"
import { mediansOf, type Figures, type Measured } from "../medians.ts"
import { describeBar, printTable, rounded, show } from "../print.ts"

const ROUNDS = 7
const SHORT_ROUNDS = 3

/** Milliseconds. */
const IDLE = 10_000

const CANDIDATES: Candidate[] = ["bare", "fastify", "next", "tideline"]

/**
 * Measures the time from the start of a process to its first 200, and its memory after ten idle
 * seconds. The database is running and everything is built. Linux only.
 */
export async function measureStart({ short }: { short: boolean }): Promise<object> {
  return withStage(async ({ setting, machine }) => {
    const rounds = short ? SHORT_ROUNDS : ROUNDS
    const measured: Measured<Candidate>[] = []
    for (let round = 0; round < rounds; round++) {
      for (const candidate of inTurn(CANDIDATES, round))
        measured.push(...(await startOnce(setting, candidate, round)))
    }
    return { machine, rounds, medians: report(measured), measured }
  })
}

/**
 * Starts the endpoint, and the home page where there is one. Measures idle memory in the first
 * round only, because it hardly varies.
 */
async function startOnce(
  setting: Setting,
  candidate: Candidate,
  round: number,
): Promise<Measured<Candidate>[]> {
  const measured: Measured<Candidate>[] = []
  const served = await startCandidate(candidate, setting)
  keep("/api/health", { milliseconds: served.startedIn })
  if (round === 0 && served.child.pid !== undefined) {
    await pause(IDLE)
    keep("idle", { memory: memoryOf(served.child.pid) })
  }
  await stopServer(served)
  if (candidate !== "fastify") {
    const page = await startCandidate(candidate, setting, "/")
    keep("/", { milliseconds: page.startedIn })
    await stopServer(page)
  }
  return measured

  function keep(what: string, figures: Figures): void {
    measured.push({ candidate, what, figures })
    process.stderr.write(`${candidate}, ${what}: ${JSON.stringify(figures, rounded)}\n`)
  }
}

function report(measured: readonly Measured<Candidate>[]) {
  const medians = mediansOf(measured)
  const figure = (what: string, candidate: Candidate) =>
    medians[what]?.[candidate]?.[what === "idle" ? "memory" : "milliseconds"] ?? Number.NaN
  const row = (title: string, what: string) => [
    title,
    ...CANDIDATES.map((candidate) => show(figure(what, candidate))),
    show(figure(what, "tideline") / figure(what, "next")),
  ]
  printTable(
    ["from the start", ...CANDIDATES, "Tideline : Next.js"],
    [
      row("ms to the first 200 of /api/health", "/api/health"),
      row("ms to the first 200 of /", "/"),
      row("resident MiB after ten idle seconds", "idle"),
    ],
  )
  const against = (what: string) => figure(what, "tideline") / figure(what, "next")
  const bars = [
    describeBar("start to the first 200 of /api/health against Next.js's", against("/api/health"), 0.7),
    describeBar("start to the first 200 of / against Next.js's", against("/"), 0.7),
    describeBar("idle memory against Next.js's", against("idle"), 1.5),
  ]
  process.stdout.write(`\n${bars.join("\n")}\n`)
  return medians
}
