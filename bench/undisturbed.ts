import { readFileSync } from "node:fs"
import { cpus } from "node:os"
import { setTimeout as pause } from "node:timers/promises"
import type { Figures } from "./medians.ts"

/**
 * The percentage of stolen CPU time above which a measurement reflects the neighbours rather than
 * the candidate.
 */
const DISTURBED = 1
const TRIES = 5
/** Neighbours often finish within a few seconds. */
const REST_MS = 4000

/**
 * Repeats a measurement that was disturbed. The host of a virtual machine may give CPU time to
 * other guests, sometimes half of it for minutes, and reports this as `steal` (proc_stat(5)). If
 * every attempt is disturbed, the least disturbed one counts. The choice ignores the result, and
 * `missed` is summed over all attempts. Adds `stolen`, in percent, and the number of `tries`.
 */
export async function measureUndisturbed(measure: () => Promise<Figures>): Promise<Figures> {
  let best: Figures = {}
  let least = Number.POSITIVE_INFINITY
  let tries = 0
  let missed = 0
  while (tries < TRIES && least > DISTURBED) {
    if (tries > 0) await pause(REST_MS)
    tries += 1
    const before = stolenMs()
    const since = performance.now()
    const figures = await measure()
    missed += figures["missed"] ?? 0
    const stolen = (100 * (stolenMs() - before)) / ((performance.now() - since) * cpus().length)
    if (stolen < least) {
      least = stolen
      best = figures
    }
  }
  return { ...best, missed, stolen: least, tries }
}

/** The stolen time of all processors since boot, in ms; 0 where the system doesn't report it. */
function stolenMs(): number {
  try {
    const [, , , , , , , , steal] = readFileSync("/proc/stat", "utf8").split("\n", 1)[0]?.split(/\s+/) ?? []
    return 10 * Number(steal ?? 0)
  } catch {
    return 0
  }
}
