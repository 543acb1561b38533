import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { setTimeout as pause } from "node:timers/promises"

// Measures whole processes from outside, all in the same way. Linux only: it reads /proc.

export interface Served {
  child: ChildProcess
  port: number
  /** From its start to the first 200, in ms. */
  startedIn: number
}

/** Starts a server, and waits until it answers `path` with 200. */
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

/** CPU in ms that the process and its children have used. */
export function cpuOf(pid: number): number {
  const [, , , , , , , , , , , user = 0, system = 0] = statOf(pid).map(Number)
  const own = ((user + system) * 1000) / TICKS
  return childrenOf(pid).reduce((sum, child) => sum + cpuOf(child), own)
}

/** Resident memory of the process and its children, in MiB. */
export function memoryOf(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
  return childrenOf(pid).reduce((sum, child) => sum + memoryOf(child), Number(kilobytes) / 1024)
}

/** Clock ticks of the kernel in a second. */
const TICKS = 100

/** The fields behind the name, which may hold spaces: state, parent, and so on (proc(5)). */
function statOf(pid: number): string[] {
  const line = readFileSync(`/proc/${pid}/stat`, "utf8")
  return line.slice(line.lastIndexOf(")") + 2).split(" ")
}

function childrenOf(pid: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((other) => {
      try {
        return Number(statOf(other)[1]) === pid
      } catch {
        return false
      }
    })
}
