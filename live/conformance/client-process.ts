import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { Queue, Unmet } from "./queue.ts"

/** What a client shows: the rows of each follow, in order. */
export interface ClientState {
  rows: Record<string, Record<string, unknown>[]>
  status: string
}

/** The outcome of a query or mutation. */
export interface Outcome {
  done: string
  value?: unknown
  error?: { code: string }
}

export interface ClientProcess {
  /** Writes a line of JSON to the client's standard input. */
  tell(command: Record<string, unknown>): void
  state(): Promise<ClientState>
  outcome(name: string): Promise<Outcome>
  /** Rejects when the client ends before `stop`. */
  readonly ended: Promise<never>
  stop(): Promise<void>
}

/** Starts a client by its command. What it writes to standard error is passed on. */
export function startClient(command: readonly string[], origin: string): ClientProcess {
  const [program = "", ...args] = command
  const child = spawn(program, args, {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, TIDELINE_URL: origin, TIDELINE_API_KEY: "conformance" },
  })
  const states = new Queue<ClientState>()
  const outcomes = new Map<string, Queue<Outcome>>()
  let ending: string | null = null
  const ended = Promise.withResolvers<never>()
  ended.promise.catch(() => {})
  child.on("error", (error) => end(error.message))
  child.on("exit", (code, signal) => end(`The client ended with ${signal ?? code}.`))
  child.stdin.on("error", () => {})
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as { state: ClientState } | Outcome
    if ("state" in message) states.put(message.state)
    else outcomesOf(message.done).put(message)
  })

  function end(reason: string): void {
    ending ??= reason
    ended.reject(new Unmet(ending))
  }

  function outcomesOf(name: string): Queue<Outcome> {
    const known = outcomes.get(name) ?? new Queue<Outcome>()
    outcomes.set(name, known)
    return known
  }

  function tell(line: Record<string, unknown>): void {
    if (ending) throw new Unmet(ending)
    child.stdin.write(`${JSON.stringify(line)}\n`)
  }

  return {
    tell,
    state() {
      states.clear()
      tell({ do: "state" })
      return states.take("print its state")
    },
    outcome: (name) => outcomesOf(name).take(`print the outcome of ${name}`),
    ended: ended.promise,
    async stop() {
      if (ending) return
      const gone = once(child, "exit")
      child.stdin.end()
      child.kill()
      await gone
    },
  }
}
