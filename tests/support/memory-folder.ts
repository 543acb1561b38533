import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs"
import { join } from "node:path"
import { WORKERS } from "./workers.ts"

const MEMORY = "/dev/shm"
const NAME = "tideline-tests-"

const GB = 1e9

/** What a run keeps at a time: databases, their log, stored files, Chromium's profiles. */
const FILES = 4 * GB

/** A server and a browser of each worker. */
const PROCESSES = WORKERS * 0.5 * GB

/**
 * Puts the temporary files of this run into memory, where the system offers that and has the space:
 * every test database is copied file by file, which takes twenty times as long on a disk. Elsewhere,
 * and for the long forms, whose files would not fit, they stay where they are.
 */
export function keepTemporaryFilesInMemory() {
  if (Object.entries(process.env).some(([name, value]) => isLongForm(name, value)) || !hasSpace()) return
  for (const name of readdirSync(MEMORY)) if (isOfEndedRun(name)) remove(join(MEMORY, name))
  const folder = join(MEMORY, NAME + process.pid)
  mkdirSync(folder, { recursive: true })
  process.env["TMPDIR"] = folder
  process.on("exit", () => remove(folder))
}

function isLongForm(name: string, value: string | undefined) {
  return /^(FAULTS|HISTORY|UPLOADS)$/.test(name) && value === "long"
}

function hasSpace(): boolean {
  try {
    // Some containers let nothing run from there, and the tests copy programs.
    const mount = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .find((line) => line.split(" ")[1] === MEMORY)
    if (!mount || mount.split(" ")[3]?.split(",").includes("noexec")) return false
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize > FILES && process.availableMemory() > FILES + PROCESSES
  } catch {
    return false
  }
}

/** Whether it was left behind by a run that was killed. */
function isOfEndedRun(name: string): boolean {
  const pid = name.startsWith(NAME) ? Number(name.slice(NAME.length)) : 0
  if (pid === 0) return false
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}

function remove(folder: string) {
  rmSync(folder, { recursive: true, force: true })
}
