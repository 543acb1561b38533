import { setTimeout as wait } from "node:timers/promises"
import type { EndedReply } from "./reply-record.ts"
import { createBatches } from "./batches.ts"
import type { Log } from "#server/log.ts"
import type { ChunkWriter } from "./chunk-writer.ts"
import type { StopReason } from "./contract.ts"

interface RunningTurn {
  stop(reason: StopReason): void
  /** Resolves when the reply is stored, however it ended. */
  stored: Promise<void>
}

/** The turns that this process runs, by the ids of their replies. */
export interface RunningTurns {
  /** The number of this process's lock. */
  readonly process: number
  readonly log: Log
  readonly chunks: ChunkWriter
  /** Aborted when the process stops waiting for PostgreSQL. */
  readonly closing: AbortSignal
  /**
   * `work` runs the turn and stores its reply. The returned promise resolves when it has ended; a
   * failure is logged.
   */
  add(answerId: string, stop: RunningTurn["stop"], work: Promise<void>): Promise<void>
  /**
   * Runs work after a turn, which never throws. Its signal is aborted when the process shuts down,
   * and the shutdown waits for it.
   */
  follow(work: (ending: AbortSignal) => Promise<void>): void
  /**
   * Registers a stream that ends with its reader; call the returned function when it ends. Null if
   * there are already `most` under this key.
   */
  enterAlone(key: string, most: number): (() => void) | null
  /**
   * Runs one person's work in batches, one at a time. Messages wait here, without a database
   * connection, rather than in the database for the lock on the person's row.
   */
  inBatch: ReturnType<typeof createBatches>
  /** `listener` learns of each conversation in which a reply has ended, or may have. */
  onEnded(listener: (threadId: string) => Promise<void>): void
  /** Does nothing while the process shuts down. */
  tellEnded(threadId: string): void
  has(answerId: string): boolean
  count(): number
  /** A turn has ended, stored or not. */
  countEnd(status: EndedReply["status"]): void
  /** How many have ended since the start of the process, by how they ended. */
  ended(): Record<EndedReply["status"], number>
  /** Resolves when the stopped reply is stored; with false if this process does not run it. */
  stop(answerId: string): Promise<boolean>
  /**
   * Interrupts every turn, and resolves when the text so far is stored, or when that has failed for
   * some seconds.
   */
  close(): Promise<void>
}

declare module "#server/scope.ts" {
  interface Services {
    turns: RunningTurns
  }
}

/**
 * Milliseconds that PostgreSQL may be unreachable during shutdown. After that another process ends
 * the turns with what is stored of them.
 */
const STORE_TIMEOUT = 5000

export function createRunningTurns({
  process,
  log,
  chunks,
}: Pick<RunningTurns, "process" | "log" | "chunks">): RunningTurns {
  const turns = new Map<string, RunningTurn>()
  const alone = new Map<string, number>()
  const followers = new Set<Promise<void>>()
  const ending = new AbortController()
  const closing = new AbortController()
  const ended = { completed: 0, stopped: 0, timeout: 0, failed: 0, interrupted: 0 }
  let isClosing = false
  let heard: ((threadId: string) => Promise<void>) | null = null

  return {
    process,
    log,
    chunks,
    closing: closing.signal,
    add(answerId, stop, work) {
      const stored = work
        .catch((error: unknown) => log.error({ err: error, answer: answerId }, "could not store a reply"))
        .finally(() => turns.delete(answerId))
      turns.set(answerId, { stop, stored })
      if (isClosing) stop("interrupted")
      return stored
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
    onEnded(listener) {
      heard = listener
    },
    tellEnded(threadId) {
      if (isClosing || !heard) return
      const telling = heard(threadId)
      followers.add(telling)
      void telling.finally(() => followers.delete(telling))
    },
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
