import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"

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
