import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"

/**
 * Opaque: equal for two calls about one process, different for a later process with the same
 * number. Null if there is none.
 */
export function startTimeOf(pid: number): string | null {
  if (process.platform !== "linux") return ask(pid, "lstart=")
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    // The name in parentheses may contain spaces; state is the first field after it, the start time
    // the twentieth.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    const isZombie = fields[0] === "Z"
    return isZombie ? null : `${bootId()} ${fields[19]}`
  } catch {
    return null
  }
}

/** The program and its arguments, separated by spaces; null if there is no such process. */
export function commandOf(pid: number): string | null {
  if (process.platform !== "linux") return ask(pid, "command=")
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim()
  } catch {
    return null
  }
}

/** The processes that this one has started and that are still running. */
export function childrenOf(pid: number): number[] {
  if (process.platform !== "linux")
    return askAll()
      .filter(([, parent]) => parent === pid)
      .map(([child]) => child)
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1")
      // State, and then the parent, after the name in parentheses.
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === pid ? [Number(name)] : []
    } catch {
      return [] // it has ended in the meantime
    }
  })
}

/** Each process with its parent. */
function askAll(): [number, number][] {
  const text = execFileSync("ps", ["-axo", "pid=,ppid="], { encoding: "utf8" })
  return text
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number) as [number, number])
}

function bootId() {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
}

function ask(pid: number, column: string) {
  try {
    return execFileSync("ps", ["-o", column, "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim()
  } catch {
    return null
  }
}
