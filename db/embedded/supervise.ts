import type { ChildProcessByStdio } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import type { Readable } from "node:stream"
import { setTimeout as delay } from "node:timers/promises"

export type Server = ChildProcessByStdio<null, Readable, Readable>

interface Options {
  start: () => Server
  beforeRestart: () => Promise<void>
  onLog: (line: string) => void
  /** Called when it ended, or could not be started again, with the reason. */
  onEnd?: ((reason: string) => void) | undefined
  /** Called when it runs again. */
  onReturn?: (() => void) | undefined
}

/**
 * Keeps the server running until `stop`. Resolves when it first accepts connections, and throws if
 * it never does.
 */
export async function supervise({ start, beforeRestart, onLog, onEnd, onReturn }: Options) {
  let isStopping = false
  let server = await startAndWait(start, onLog)
  const interrupt = () => server.kill("SIGINT")
  // A crash of our process leaves no server behind. SIGKILL does; the next start finds it.
  process.once("exit", interrupt)
  const watching = watch()

  async function watch() {
    while (!isStopping) {
      if (server.exitCode === null && server.signalCode === null) await once(server, "exit")
      if (isStopping) return
      onEnd?.(`It ended with ${server.signalCode ?? `exit code ${server.exitCode}`}.`)
      await restart()
    }
  }

  async function restart() {
    for (let pause = 100; !isStopping; pause = Math.min(pause * 2, 5_000)) {
      try {
        await beforeRestart()
        server = await startAndWait(start, onLog)
        onReturn?.()
        return
      } catch (error) {
        // Its child processes may still be exiting; until then the memory they share is not free.
        onEnd?.(reasonOf(error))
        await delay(pause)
      }
    }
  }

  return {
    get pid() {
      return server.pid ?? 0
    },
    async stop() {
      isStopping = true
      process.off("exit", interrupt)
      await end(server)
      await watching
      await end(server)
    },
  }
}

/** A standby accepts only reads. */
const READY = /database system is ready to accept (read-only )?connections/

/** PostgreSQL's last complaint, without the time and number of the process that made it. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const complaints = [...message.matchAll(/(?:FATAL|PANIC|could not).*/g)]
  return complaints.at(-1)?.[0] ?? message
}

/** Resolves when the server accepts connections, and throws if it never does. */
export async function startAndWait(start: () => Server, onLog: (line: string) => void) {
  const server = start()
  const recent: string[] = []
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(new Error(`PostgreSQL could not be started: ${error.message}`)))
    server.once("close", () => reject(new Error(`PostgreSQL did not start:\n${recent.join("\n")}`)))
    createInterface({ input: server.stderr }).on("line", (line) => {
      onLog(line)
      recent.push(line)
      if (recent.length > 40) recent.shift()
      if (READY.test(line)) resolve()
    })
    server.stdout.resume()
  })
  return server
}

/**
 * SIGINT is PostgreSQL's fast shutdown. SIGQUIT, if that takes too long, leaves the rest to
 * recovery at the next start.
 */
export async function end(server: Server) {
  if (server.exitCode !== null || server.signalCode !== null) return
  const timer = setTimeout(() => server.kill("SIGQUIT"), 20_000)
  server.kill("SIGINT")
  await once(server, "exit")
  clearTimeout(timer)
}
