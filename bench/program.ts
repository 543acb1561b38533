import { fork } from "node:child_process"
import { once } from "node:events"
import { pathToFileURL } from "node:url"

// A measured program runs in a process of its own and executes commands that it receives over
// Node's IPC channel.

type Commands = Record<string, (...args: never[]) => unknown>

interface ProgramRequest {
  id: number
  command: string
  args: never[]
}

interface ProgramResponse {
  id: number
  value?: unknown
  error?: string
}

export interface Program<Known extends Commands> {
  ask<Name extends keyof Known & string>(
    command: Name,
    ...args: Parameters<Known[Name]>
  ): Promise<Awaited<ReturnType<Known[Name]>>>
  stop(): Promise<void>
}

/** Accepts commands. A program calls this once it is ready to execute them. */
export function answerCommands(commands: Commands): void {
  process.on("message", (question: ProgramRequest) => {
    void answer(question)
  })
  process.on("disconnect", () => process.exit())

  async function answer({ id, command, args }: ProgramRequest): Promise<void> {
    try {
      process.send?.({ id, value: await commands[command]?.(...args) } satisfies ProgramResponse)
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? String(error.stack) : String(error) })
    }
  }
}

interface ProgramOptions {
  /** Replaces the inherited environment. */
  env?: Record<string, string | undefined>
  cwd?: string
  /** A module to load before the program. */
  before?: string
}

/** Set BENCH_PROFILE=<folder> to have each process write a CPU profile there. */
export function startProgram<Known extends Commands>(
  file: string,
  args: string[] = [],
  { before, ...options }: ProgramOptions = {},
): Program<Known> {
  const folder = process.env["BENCH_PROFILE"]
  const profile = folder ? ["--cpu-prof", `--cpu-prof-dir=${folder}`] : []
  const child = fork(file, args, {
    serialization: "advanced",
    execArgv: ["--expose-gc", ...profile, ...(before ? ["--import", pathToFileURL(before).href] : [])],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    ...options,
  })
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let asked = 0
  child.on("message", ({ id, value, error }: ProgramResponse) => {
    if (error === undefined) waiting.get(id)?.resolve(value)
    else waiting.get(id)?.reject(new Error(`${file} ${args[0]}: ${error}`))
    waiting.delete(id)
  })
  const gone = once(child, "exit").then(() => {
    for (const { reject } of waiting.values()) reject(new Error(`${file} ${args[0]} has ended.`))
  })
  return {
    ask(command, ...args_) {
      const answered = Promise.withResolvers<unknown>()
      const id = asked++
      waiting.set(id, answered)
      child.send({ id, command, args: args_ })
      return answered.promise as Promise<Awaited<ReturnType<Known[typeof command]>>>
    },
    async stop() {
      if (child.connected) child.disconnect()
      await gone
    },
  }
}
