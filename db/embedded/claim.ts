import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { startTimeOf } from "./processes.ts"

interface Claim {
  pid: number
  /** Distinguishes the process from a later one with the same number. */
  started: string | null
  url?: string
}

/**
 * Makes this process the only one that may run the cluster in `directory`. Throws if another living
 * process does.
 */
export function claimDirectory(directory: string) {
  const file = join(directory, "owner.json")
  const claim: Claim = { pid: process.pid, started: startTimeOf(process.pid) }
  while (!tryWrite(file, claim)) {
    const owner = readClaim(directory)
    if (owner) {
      throw new Error(
        `Another Tideline (process ${owner.pid}) runs with this data: ${directory}. ` +
          "Stop it first, or give this one another DATA_DIR.",
      )
    }
    removeAbandoned(file)
  }
  return {
    /**
     * Lets commands that run beside us find the server. Only we may read the file: the URL contains
     * the password.
     */
    announce(url: string) {
      writeFileSync(file, JSON.stringify({ ...claim, url }), { mode: 0o600 })
    },
    release() {
      rmSync(file, { force: true })
    },
  }
}

/** The claim of a living process, or null. */
export function readClaim(directory: string): Claim | null {
  const claim = parse(join(directory, "owner.json"))
  if (!claim) return null
  const started = startTimeOf(claim.pid)
  return started !== null && started === claim.started ? claim : null
}

function tryWrite(file: string, claim: Claim) {
  try {
    writeFileSync(file, JSON.stringify(claim), { flag: "wx", mode: 0o600 })
    return true
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false
    throw error
  }
}

/**
 * Renamed before it is deleted: of two processes that both found it abandoned, one renames it and
 * the other finds nothing.
 */
function removeAbandoned(file: string) {
  const aside = `${file}.${process.pid}`
  try {
    renameSync(file, aside)
  } catch {
    return
  }
  const taken = parse(aside)
  const isAlive = taken !== null && startTimeOf(taken.pid) === taken.started
  if (isAlive && taken.pid !== process.pid) renameSync(aside, file)
  else rmSync(aside, { force: true })
}

function parse(file: string): Claim | null {
  try {
    const claim: unknown = JSON.parse(readFileSync(file, "utf8"))
    return isClaim(claim) ? claim : null
  } catch {
    return null
  }
}

function isClaim(value: unknown): value is Claim {
  return (
    typeof value === "object" &&
    value !== null &&
    "pid" in value &&
    typeof value.pid === "number" &&
    "started" in value
  )
}
