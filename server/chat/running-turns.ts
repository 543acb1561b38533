import type { StopReason } from "./contract.ts"

export interface RunningTurn {
  stop(reason: StopReason): void
  /** Resolves when the answer is stored, however it ended. */
  stored: Promise<void>
}

/** The turns that this process runs, by conversation: there is at most one in each. */
export interface RunningTurns {
  add(threadId: string, turn: RunningTurn): void
  /** Resolves when the stopped answer is stored; false when no turn runs there. */
  stop(threadId: string): Promise<boolean>
  count(): number
  /** Interrupts every turn, and resolves when what was said so far is stored. */
  close(): Promise<void>
}

export function createRunningTurns(): RunningTurns {
  const turns = new Map<string, RunningTurn>()

  return {
    add(threadId, turn) {
      turns.set(threadId, turn)
      void turn.stored.finally(() => {
        if (turns.get(threadId) === turn) turns.delete(threadId)
      })
    },
    async stop(threadId) {
      const turn = turns.get(threadId)
      turn?.stop("stopped")
      await turn?.stored
      return turn !== undefined
    },
    count: () => turns.size,
    async close() {
      const running = [...turns.values()]
      for (const turn of running) turn.stop("interrupted")
      await Promise.all(running.map((turn) => turn.stored))
    },
  }
}
