import { median } from "./statistics.ts"

export type Figures = Record<string, number>

export interface Measured<Candidate extends string> {
  candidate: Candidate
  what: string
  figures: Figures
}

/** By measurement, candidate and name. */
export type Medians<Candidate extends string> = Record<string, Partial<Record<Candidate, Figures>>>

export function mediansOf<Candidate extends string>(
  measured: readonly Measured<Candidate>[],
): Medians<Candidate> {
  const medians: Medians<Candidate> = {}
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
