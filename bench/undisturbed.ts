import { readFileSync } from "node:fs"
import { cpus } from "node:os"
import { setTimeout as pause } from "node:timers/promises"
import type { Figures } from "./medians.ts"

/**
 * The share of CPU time, in percent, from which a measure says more about the neighbours than about
 * the candidate.
 */
const DISTURBED = 1
const TRIES = 5
/** A neighbour is often done after a few seconds. */
const REST_MS = 4000

/**
 * Measures while the machine is undisturbed. The host of a virtual machine may give CPU time to
 * other guests, sometimes half of it for minutes, and reports it (`steal` in proc_stat(5)). A
 * disturbed measure is repeated; if all are disturbed, the least disturbed counts. The choice
 * ignores the result, and `missed` counts every time. Adds `stolen`, in percent, and the number of
 * `tries`.
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

/** Of all processors together, since boot; 0 on a system that does not report it. */
function stolenMs(): number {
  try {
    const [, , , , , , , , steal] = readFileSync("/proc/stat", "utf8").split("\n", 1)[0]?.split(/\s+/) ?? []
    return 10 * Number(steal ?? 0)
  } catch {
    return 0
  }
}
