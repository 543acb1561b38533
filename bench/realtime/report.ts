import { mediansOf, type Figures, type Measured, type Medians } from "../medians.ts"
import { printTable, show } from "../print.ts"
import { judge } from "./bars.ts"
import type { Candidate } from "./server.ts"

const COMPARED = ["floor", "tideline", "notify"] as const

/**
 * Prints the medians over all rounds as tables, with the targets they meet or miss, and returns
 * them.
 */
export function report(measured: readonly Measured<Candidate>[]): Medians<Candidate> {
  const medians = mediansOf(measured)
  const all = Object.entries(medians)
  const rates = all.filter(([, { tideline }]) => tideline?.["p50"] !== undefined)
  const others = all.filter(([, { tideline }]) => tideline?.["p50"] === undefined)
  printTable(
    ["from commit to callback, ms (p50 / p99)", ...COMPARED, "Tideline : floor", "NOTIFY : floor"],
    rates.map(([what, by]) => {
      const latencies = COMPARED.map((each) => `${show(by[each]?.["p50"])} / ${show(by[each]?.["p99"])}`)
      return [what].concat(latencies, ratio(by, "tideline"), ratio(by, "notify"))
    }),
  )
  printTable(
    ["server, % of one core (writes/s achieved)", ...COMPARED],
    rates.map(([what, by]) => {
      const shares = COMPARED.map((each) => `${show(by[each]?.["cpu"])} (${show(by[each]?.["achieved"])})`)
      return [what].concat(shares)
    }),
  )
  printTable(
    ["", ...COMPARED, "bare socket.io"],
    others.flatMap(([what, by]) =>
      Object.entries(FIGURES)
        .filter(([figure]) => by.tideline?.[figure] !== undefined)
        .map(([figure, name]) => {
          const values = ([...COMPARED, "bare"] as const).map((each) => show(by[each]?.[figure]))
          return [`${what}: ${name}`].concat(values)
        }),
    ),
  )
  process.stdout.write(`\n${describeDisturbance(measured)}\n\n${judge(medians).join("\n")}\n`)
  return medians
}

/** The printed figures of measurements other than rates, in this order. */
const FIGURES: Record<string, string> = {
  perSocket: "resident KiB per socket",
  atLeast: "the same, after garbage collection",
  toHalf: "ms until half of the clients",
  toLast: "ms until the last client",
  blocked: "longest block of the event loop, ms",
  cpuMs: "server CPU per commit, ms",
  missed: "notes that did not arrive",
}

function describeDisturbance(measured: readonly Measured<Candidate>[]): string {
  const stolen = measured.flatMap(({ figures }) => figures["stolen"] ?? [])
  const average = stolen.reduce((sum, each) => sum + each, 0) / stolen.length
  const again = measured.reduce((sum, { figures }) => sum + (figures["tries"] ?? 1) - 1, 0)
  return (
    `The host took at most ${show(Math.max(...stolen))} % of the machine from a measure of latency that counts, ${show(average)} % on average; ` +
    `measures were taken again ${again} times for what it took.`
  )
}

function ratio(by: Partial<Record<Candidate, Figures>>, candidate: Candidate): string {
  return show((by[candidate]?.["p50"] ?? Number.NaN) / (by.floor?.["p50"] ?? Number.NaN))
}
