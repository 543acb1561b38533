import { median } from "../statistics.ts"
import type { Candidate } from "./server.ts"
import type { Figures } from "./trial.ts"

export interface Measured {
  candidate: Candidate
  what: string
  figures: Figures
}

/** By measure, by candidate, by figure. */
export type Medians = Record<string, Partial<Record<Candidate, Figures>>>

export function mediansOf(measured: readonly Measured[]): Medians {
  const medians: Medians = {}
  for (const { candidate, what } of measured) {
    const by = (medians[what] ??= {})
    if (by[candidate]) continue
    const same = measured.filter((each) => each.candidate === candidate && each.what === what)
    const names = Object.keys(same[0]?.figures ?? {})
    by[candidate] = Object.fromEntries(
      names.map((name) => [name, median(same.map(({ figures }) => figures[name] ?? Number.NaN))]),
    )
  }
  return medians
}

export function show(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return "-"
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)))
}
