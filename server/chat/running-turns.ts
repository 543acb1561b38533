import { setTimeout as wait } from "node:timers/promises"
import type { EndedReply } from "./reply-record.ts"
import { createBatches } from "./batches.ts"
import type { ChunkWriter } from "./chunk-writer.ts"
import type { StopReason } from "./contract.ts"

export interface RunningTurn {
  stop(reason: StopReason): void
  /** Resolves when the answer is stored, however it ended. */
  stored: Promise<void>
}

/** The turns that this process runs, by their answers' ids. */
export interface RunningTurns {
  /** The number under which this process is known to live. */
  readonly process: number
  readonly chunks: ChunkWriter
  /** Aborted when the process will not wait for PostgreSQL any longer. */
  readonly closing: AbortSignal
  add(answerId: string, turn: RunningTurn): void
  /**
   * Something to be done after a turn, which never throws. Its signal is aborted when the process
   * is to end, and the end waits for it.
   */
  follow(work: (ending: AbortSignal) => Promise<void>): void
  /**
   * A stream that only its reader keeps alive begins: call what is returned when it ends. Null
   * where there are `most` under this key.
   */
  enterAlone(key: string, most: number): (() => void) | null
  /**
   * Runs what arrives for one person in batches, one at a time. Questions wait here, without a
   * database connection, rather than in the database for the lock of the person's row.
   */
  inBatch: ReturnType<typeof createBatches>
  has(answerId: string): boolean
  count(): number
  /** One is over, stored or of those that nothing remembers, and how it ended. */
  countEnd(status: EndedReply["status"]): void
  /** How many are over since the start, by how they ended. */
  ended(): Record<EndedReply["status"], number>
  /** Resolves when the stopped answer is stored; false when this process does not run it. */
  stop(answerId: string): Promise<boolean>
  /**
   * Interrupts every turn, and resolves when what was said so far is stored, or when that has not
   * worked for some seconds.
   */
  close(): Promise<void>
}

/**
 * Milliseconds that PostgreSQL may be away when the process is to end. Another process then ends
 * its turns with what is stored of them.
 */
const STORE_TIMEOUT = 5000

export function createRunningTurns({
  process,
  chunks,
}: {
  process: number
  chunks: ChunkWriter
}): RunningTurns {
  const turns = new Map<string, RunningTurn>()
  const alone = new Map<string, number>()
  const followers = new Set<Promise<void>>()
  const ending = new AbortController()
  const closing = new AbortController()
  const ended = { completed: 0, stopped: 0, timeout: 0, failed: 0, interrupted: 0 }
  let isClosing = false

  return {
    process,
    chunks,
    closing: closing.signal,
    add(answerId, turn) {
      turns.set(answerId, turn)
      void turn.stored.finally(() => turns.delete(answerId))
      if (isClosing) turn.stop("interrupted")
    },
    follow(work) {
      const follower = work(ending.signal)
      followers.add(follower)
      void follower.finally(() => followers.delete(follower))
    },
    enterAlone(userId, most) {
      const count = alone.get(userId) ?? 0
      if (count >= most) return null
      alone.set(userId, count + 1)
      return () => {
        const left = (alone.get(userId) ?? 1) - 1
        if (left > 0) alone.set(userId, left)
        else alone.delete(userId)
      }
    },
    inBatch: createBatches(),
    has: (answerId) => turns.has(answerId),
    count: () => turns.size,
    countEnd(status) {
      ended[status]++
    },
    ended: () => ({ ...ended }),
    async stop(answerId) {
      const turn = turns.get(answerId)
      turn?.stop("stopped")
      await turn?.stored
      return turn !== undefined
    },
    async close() {
      isClosing = true
      ending.abort()
      const running = [...turns.values()]
      for (const turn of running) turn.stop("interrupted")
      const stored = Promise.all(running.map((turn) => turn.stored))
      const timer = new AbortController()
      await Promise.race([stored, wait(STORE_TIMEOUT, null, { signal: timer.signal }).catch(() => {})])
      timer.abort()
      closing.abort()
      await stored
      await Promise.all(followers)
    },
  }
}
