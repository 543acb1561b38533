import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { setTimeout as pause } from "node:timers/promises"
import { childrenOf } from "#db/embedded/processes.ts"

// Measures all processes in the same way, from outside. Linux only: it reads /proc.

export interface Served {
  child: ChildProcess
  port: number
  /** Milliseconds from the start of the process to its first 200. */
  startedIn: number
}

/** Starts a server and waits until it responds to `path` with 200. */
export async function startServer(
  args: readonly string[],
  { port, path, cwd, env }: { port: number; path: string; cwd: string; env: Record<string, string> },
): Promise<Served> {
  const begun = performance.now()
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], NODE_ENV: "production", ...env },
    stdio: ["ignore", "ignore", "inherit"],
  })
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${args[0]} has ended with ${child.exitCode}.`)
    const status = await fetch(`http://127.0.0.1:${port}${path}`, { redirect: "manual" }).then(
      async (response) => (await response.bytes(), response.status),
      () => 0,
    )
    if (status === 200) return { child, port, startedIn: performance.now() - begun }
    await pause(3)
  }
}

export async function stopServer({ child }: Served): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill("SIGTERM")
  const timer = setTimeout(() => child.kill("SIGKILL"), 5000)
  await once(child, "exit")
  clearTimeout(timer)
}

/** CPU time in ms of the process and its children; 0 if it has ended. */
export function cpuOf(pid: number): number {
  try {
    const [, , , , , , , , , , , user = 0, system = 0] = statOf(pid).map(Number)
    const own = ((user + system) * 1000) / TICKS
    return childrenOf(pid).reduce((sum, child) => sum + cpuOf(child), own)
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH"))
      return 0
    throw error
  }
}

/** Resident memory of the process and its children, in MiB. */
export function memoryOf(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
  return childrenOf(pid).reduce((sum, child) => sum + memoryOf(child), Number(kilobytes) / 1024)
}

/** The kernel's clock ticks per second. */
const TICKS = 100

/**
 * The fields after the process name, which may contain spaces: state, parent, and so on (proc(5)).
 */
function statOf(pid: number): string[] {
  const line = readFileSync(`/proc/${pid}/stat`, "utf8")
  return line.slice(line.lastIndexOf(")") + 2).split(" ")
}
