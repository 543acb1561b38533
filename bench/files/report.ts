import { mediansOf, type Measured, type Medians } from "../medians.ts"
import { describeBar, describeFloor, printTable, show } from "../print.ts"
import { CANDIDATES, type Candidate } from "./candidates.ts"

/** The lowest acceptable share of the bare server's rate. */
const SHARE = 0.8
/** The highest acceptable growth in MiB. */
const GROWTH = 50

/**
 * Prints the medians over all rounds as tables, with the targets they meet or miss, and returns
 * them.
 */
export function report(measured: readonly Measured<Candidate>[]): Medians<Candidate> {
  const medians = mediansOf(measured)
  const all = Object.entries(medians)
  printTable(
    ["MB/s", ...CANDIDATES, "Tideline : bare"],
    all.map(([what, by]) => [what, ...figures(by, "rate"), show(ratio(by, "rate"))]),
  )
  printTable(
    ["server CPU per GB, ms", ...CANDIDATES, "Tideline : bare"],
    all.map(([what, by]) => [what, ...figures(by, "cpu"), show(ratio(by, "cpu"))]),
  )
  printTable(
    ["resident memory of the server grew by at most, MiB", ...CANDIDATES],
    all.map(([what, by]) => [what, ...figures(by, "growth")]),
  )
  const bars = all.flatMap(([what, by]) => [
    describeFloor(`throughput against the bare server's, ${what}`, ratio(by, "rate"), SHARE),
    describeBar(`growth of resident memory in MiB, ${what}`, by.tideline?.["growth"] ?? Number.NaN, GROWTH),
  ])
  process.stdout.write(`\n${bars.join("\n")}\n`)
  return medians
}

type By = Medians<Candidate>[string]

function figures(by: By, figure: string): string[] {
  return CANDIDATES.map((each) => show(by[each]?.[figure]))
}

function ratio(by: By, figure: string): number {
  return (by.tideline?.[figure] ?? Number.NaN) / (by.bare?.[figure] ?? Number.NaN)
}
