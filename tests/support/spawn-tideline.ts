import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { COMPILE_CACHE } from "./compile-cache.ts"

const root = resolve(import.meta.dirname, "../..")

/** The log of each server that this file has started and that is still running. */
const running = new Set<string[]>()

/** The last log lines of this file's servers, for a test that failed. */
export function lastLogLines(): string[] {
  return [...running].flatMap((log) => log.slice(-20))
}

/** Milliseconds. Less than a test's timeout, so that the failure names what was waited for. */
export const START_TIMEOUT = 50_000

/**
 * The built server in `folder`, without waiting for anything; for tests of failing starts.
 * `sources` are the sources that it was built from.
 */
export function spawnTideline(folder: string, env: Record<string, string | undefined>, sources = root) {
  const child = spawn(process.execPath, [join(sources, "build/server/index.js")], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      NODE_ENV: "production",
      HOST: "127.0.0.1",
      AUTH_SECRET: "a secret for tests, and for nothing else",
      AI_GATEWAY_API_KEY: "embedded",
      MAIL_INBOX_PORT: "0",
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      ...env,
    },
  })
  const log: string[] = []
  running.add(log)
  const waiting = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      log.push(line)
      for (const look of waiting) look()
    })
  }
  const exited = once(child, "close").then(([code]) => {
    running.delete(log)
    return typeof code === "number" ? code : null
  })

  /**
   * Resolves with the log entry that has this message, now or later. Throws when the process ends
   * without it, and after 50 s.
   */
  function logged(message: string) {
    return new Promise<Record<string, unknown>>((found, missed) => {
      const look = () => {
        const entry = entries(log).find(({ msg }) => msg === message)
        if (!entry) return
        end()
        found(entry)
      }
      const fail = (what: string) => {
        end()
        missed(new Error(`${what} Waited for "${message}" in its log:\n${log.slice(-30).join("\n")}`))
      }
      const timer = setTimeout(fail, START_TIMEOUT, `Tideline has run for ${START_TIMEOUT} ms.`)
      const end = () => {
        clearTimeout(timer)
        waiting.delete(look)
      }
      waiting.add(look)
      look()
      void exited.then((code) => fail(`Tideline ended with ${code}.`))
    })
  }

  function inbox() {
    const url = entries(log).find(({ msg }) => msg === "mail goes to the local inbox")?.["url"]
    return typeof url === "string" ? url : ""
  }
  return { child: child as ChildProcess, log, exited, logged, inbox }
}

function entries(log: string[]) {
  return log.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as Record<string, unknown>)
}
