import { readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { commandOf } from "./processes.ts"

/**
 * Stops a server that outlived the process that ran it, and removes a stale pid file. The caller
 * has the claim, so a server found here belongs to nobody.
 */
export async function stopOrphan(cluster: string): Promise<void> {
  const pidFile = join(cluster, "postmaster.pid")
  const pid = readPid(pidFile)
  if (pid === null) return
  const isRunning = () => commandOf(pid)?.includes(cluster) ?? false
  // PostgreSQL would mistake any living process with this number for itself, such as one of ours
  // after a container's restart.
  if (!isRunning()) return rmSync(pidFile, { force: true })

  process.kill(pid, "SIGINT")
  if (await isOver(isRunning, 15_000)) return
  process.kill(pid, "SIGQUIT")
  if (await isOver(isRunning, 10_000)) return
  throw new Error(`PostgreSQL (process ${pid}) still runs in ${cluster} and does not stop. Stop it by hand.`)
}

function readPid(pidFile: string) {
  try {
    const pid = Number.parseInt(readFileSync(pidFile, "utf8"), 10)
    return pid > 0 ? pid : null
  } catch {
    return null
  }
}

/** It is not our child process, so nothing notifies us of its end. */
async function isOver(isRunning: () => boolean, timeout: number) {
  const deadline = Date.now() + timeout
  while (isRunning()) {
    if (Date.now() > deadline) return false
    await delay(20)
  }
  return true
}
