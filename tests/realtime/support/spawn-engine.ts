import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { resolve } from "node:path"
import type { RealtimeLimits } from "../../../live/server/limits.ts"

const engine = resolve(import.meta.dirname, "engine-process.ts")

/** The engine in its own process. */
export async function spawnEngine(
  databaseUrl: string,
  limits: Partial<RealtimeLimits> = {},
  version: "this" | "next" = "this",
  followUrls: readonly string[] = [],
) {
  return spawnProgram(engine, [databaseUrl, JSON.stringify(limits), version, ...followUrls])
}

/** A program that prints its port when it is ready. */
export async function spawnProgram(program: string, words: readonly string[]) {
  const child = spawn(process.execPath, [program, ...words], { stdio: ["ignore", "pipe", "inherit"] })
  const lines = createInterface({ input: child.stdout })
  const [first] = await Promise.race([
    once(lines, "line"),
    once(child, "exit").then(([code]) => {
      throw new Error(`The engine's process ended with ${code} before it was ready.`)
    }),
  ])
  const { port }: { port: number } = JSON.parse(String(first))
  const gone = once(child, "exit")
  return {
    port,
    url: `ws://127.0.0.1:${port}`,
    signal: (name: NodeJS.Signals) => void child.kill(name),
    async metrics(): Promise<Record<string, number>> {
      const line = once(lines, "line")
      child.kill("SIGUSR2")
      return JSON.parse(String((await line)[0]))
    },
    async end(name: NodeJS.Signals = "SIGTERM") {
      if (child.exitCode === null && child.signalCode === null) child.kill(name)
      await gone
    },
  }
}

export type EngineProcess = Awaited<ReturnType<typeof spawnProgram>>
