import { mediansOf, type Measured, type Medians } from "../medians.ts"
import { printTable, show } from "../print.ts"
import type { Build } from "./builds.ts"

/** A figure of this build may be so many times the other's. */
const MOST = 1.1

export function report(measured: readonly Measured<Build>[]): Medians<Build> {
  const medians = mediansOf(measured)
  const rows: string[][] = []
  for (const [what, { this: own = {}, other = {} }] of Object.entries(medians)) {
    for (const [figure, value] of Object.entries(own)) {
      const before = other[figure]
      if (!before) continue
      const ratio = value / before
      if (ratio > MOST) process.exitCode = 1
      rows.push([what, figure, show(value), show(before), ratio.toFixed(2), ratio > MOST ? "WORSE" : ""])
    }
  }
  printTable(["", "figure", "this build", "the other", "ratio", ""], rows)
  return medians
}
