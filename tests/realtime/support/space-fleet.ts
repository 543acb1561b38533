import { resolve } from "node:path"
import { spawnProgram, type EngineProcess } from "./spawn-engine.ts"

const program = resolve(import.meta.dirname, "space-engine.ts")

/** Engines in processes of their own. One that is killed is replaced in the background. */
export async function openFleet(databaseUrl: string, version: "this" | "careless" = "this") {
  const spawn = () => spawnProgram(program, [databaseUrl, version])
  const engines: EngineProcess[] = await Promise.all([spawn(), spawn()])
  let replacement: Promise<unknown> | undefined
  return {
    /** Of those that accept connections. */
    get urls() {
      return engines.map(({ url }) => url)
    },
    /** As a crash would end it. Nothing happens while the previous one is being replaced. */
    async kill(at: number) {
      if (engines.length < 2) return
      const [killed] = engines.splice(at, 1)
      replacement = spawn().then((engine) => engines.push(engine))
      await killed?.end("SIGKILL")
    },
    async close() {
      await replacement
      await Promise.all(engines.map((engine) => engine.end("SIGKILL")))
    },
  }
}

export type Fleet = Awaited<ReturnType<typeof openFleet>>
