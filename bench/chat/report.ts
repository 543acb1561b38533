import { mediansOf, type Measured, type Medians } from "../medians.ts"
import { describeBar, printTable, show } from "../print.ts"
import type { Candidate } from "./candidates.ts"

const COMPARED = ["raw", "plain", "tideline"] as const
const FIRST_MS = 500

/**
 * Prints the medians over all rounds as tables, with the targets they meet or miss, and returns
 * them.
 */
export function report(measured: readonly Measured<Candidate>[]): Medians<Candidate> {
  const medians = mediansOf(measured)
  const all = Object.entries(medians)
  const bursts = all.filter(([, { tideline }]) => tideline?.["burstP50"] !== undefined)
  const steady = all.filter(([, { tideline }]) => tideline?.["cpu"] !== undefined)
  pairs("added until the first delta, ms (p50 / p99)", "first", steady)
  pairs("the same, begun within 0.2 s", "burst", bursts)
  pairs("added to each delta, ms (p50 / p99)", "lag", steady)
  printTable(
    [
      "server CPU per answer of 100 deltas beyond what it uses idle, ms",
      ...COMPARED,
      "PostgreSQL beside Tideline",
      "Tideline : plain",
    ],
    steady.map(([what, by]) =>
      [what].concat(
        COMPARED.map((each) => show(by[each]?.["cpu"])),
        show(by.tideline?.["postgres"]),
        show(ratio(by)),
      ),
    ),
  )
  single("server CPU while nobody asks, ms per second", "idle")
  single("most resident memory, MiB", "memory")
  single("answers that did not come whole", "failed")
  process.stdout.write(`\n${judge(medians).join("\n")}\n`)
  return medians

  function pairs(title: string, figure: string, rows: typeof all) {
    printTable(
      [title, ...COMPARED],
      rows.map(([what, by]) => [
        what,
        ...COMPARED.map(
          (each) => `${show(by[each]?.[`${figure}P50`])} / ${show(by[each]?.[`${figure}P99`])}`,
        ),
      ]),
    )
  }
  function single(title: string, figure: string) {
    const rows = all.filter(([, { tideline }]) => tideline?.[figure] !== undefined)
    printTable(
      [title, ...COMPARED],
      rows.map(([what, by]) => [what].concat(COMPARED.map((each) => show(by[each]?.[figure])))),
    )
  }
}

/** One line for each target of the chat: whether these figures meet it. */
function judge(medians: Medians<Candidate>): string[] {
  return [
    ...["1 stream", "50 streams", "200 streams"].map((what) =>
      describeBar(`server CPU per answer against plain streamText, ${what}`, ratio(medians[what] ?? {}), 1),
    ),
    describeBar(
      "p99 added until the first delta in ms, 200 streams",
      medians["200 streams"]?.tideline?.["firstP99"] ?? Number.NaN,
      FIRST_MS,
    ),
  ]
}

function ratio(by: Medians<Candidate>[string]): number {
  return (by.tideline?.["cpu"] ?? Number.NaN) / (by.plain?.["cpu"] ?? Number.NaN)
}
