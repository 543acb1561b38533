import { Worker } from "node:worker_threads"
import { findEntry } from "#server/find-entry.ts"
import type { Estimate, Question } from "./password-strength-thread.ts"

/** Milliseconds without a new password, after which the 28 MB of the dictionaries are given back. */
const LONGEST_IDLE = 60_000

interface Waiting {
  resolve: (score: number) => void
  reject: (error: Error) => void
}

let thread: ReturnType<typeof startThread> | null = null

/**
 * zxcvbn-ts's score of a password, from 0 to 4, in a thread of its own. Nothing is sent over the
 * network.
 */
export function scorePassword(password: string, known: string[]): Promise<number> {
  thread ??= startThread(() => (thread = null))
  return thread.score(password, known)
}

function startThread(onEnd: () => void) {
  const waiting = new Map<number, Waiting>()
  // No settings and no secrets.
  const worker = new Worker(findEntry(import.meta.dirname, "password-strength-thread"), {
    env: {},
    execArgv: [],
  })
  worker.unref()
  let idle: NodeJS.Timeout | undefined
  let asked = 0
  let hasEnded = false

  worker.on("message", ({ id, score }: Estimate) => {
    waiting.get(id)?.resolve(score)
    waiting.delete(id)
    clearTimeout(idle)
    if (waiting.size === 0) idle = setTimeout(() => end(new Error("It was idle.")), LONGEST_IDLE).unref()
  })
  worker.on("error", end)
  worker.on("exit", () => end(new Error("The thread that estimates passwords ended.")))

  function end(reason: Error) {
    // Its exit follows, when there may be another one.
    if (hasEnded) return
    hasEnded = true
    onEnd()
    clearTimeout(idle)
    for (const { reject } of waiting.values()) reject(reason)
    waiting.clear()
    void worker.terminate()
  }

  return {
    score: (password: string, known: string[]) =>
      new Promise<number>((resolve, reject) => {
        clearTimeout(idle)
        waiting.set((asked += 1), { resolve, reject })
        worker.postMessage({ id: asked, password, known } satisfies Question)
      }),
  }
}
