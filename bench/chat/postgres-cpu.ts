import { readdirSync, readFileSync } from "node:fs"

/** Milliseconds per clock tick of /proc on Linux. */
const TICK = 10

/**
 * CPU time in ms that the postmaster and its processes have used so far, including processes that
 * have ended. Linux only.
 */
export function readPostgresCpu(postmaster: number): number {
  let ticks = 0
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue
    const fields = readStat(name)
    if (!fields) continue
    const [parent, user, system, childrenUser, childrenSystem] = fields
    if (Number(name) === postmaster) ticks += user + system + childrenUser + childrenSystem
    else if (parent === postmaster) ticks += user + system
  }
  return ticks * TICK
}

function readStat(pid: string): [number, number, number, number, number] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8")
    // The second field is the process name in parentheses, which may contain spaces and
    // parentheses.
    const fields = text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number)
    const at = (number: number) => fields[number - 3] ?? 0
    return [at(4), at(14), at(15), at(16), at(17)]
  } catch {
    return null // it has ended
  }
}
