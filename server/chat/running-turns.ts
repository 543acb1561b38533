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

type Listener = (threadId: string) => Promise<void>

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

export type RunningTurns = ReturnType<typeof createRunningTurns>

interface Running {
  /** The number of this process's lock. */
  process: number
  log: Log
  chunks: ChunkWriter
}

/** The turns that this process runs, by the ids of their replies. */
export function createRunningTurns({ process, log, chunks }: Running) {
  const turns = new Map<string, RunningTurn>()
  const alone = new Map<string, number>()
  const followers = new Set<Promise<void>>()
  const ending = new AbortController()
  const closing = new AbortController()
  const ended = { completed: 0, stopped: 0, timeout: 0, failed: 0, interrupted: 0 }
  let isClosing = false
  let heard: Listener | null = null

  return {
    process,
    log,
    chunks,
    /** Aborted when the process stops waiting for PostgreSQL. */
    closing: closing.signal,
    /**
     * `work` runs the turn and stores its reply. The returned promise resolves when it has ended; a
     * failure is logged.
     */
    add(answerId: string, stop: RunningTurn["stop"], work: Promise<void>): Promise<void> {
      const stored = work
        .catch((error: unknown) => log.error({ err: error, answer: answerId }, "could not store a reply"))
        .finally(() => turns.delete(answerId))
      turns.set(answerId, { stop, stored })
      if (isClosing) stop("interrupted")
      return stored
    },
    /**
     * Runs work after a turn, which never throws. Its signal is aborted when the process shuts down,
     * and the shutdown waits for it.
     */
    follow(work: (ending: AbortSignal) => Promise<void>) {
      const follower = work(ending.signal)
      followers.add(follower)
      void follower.finally(() => followers.delete(follower))
    },
    /**
     * Registers a stream that ends with its reader; call the returned function when it ends. Null if
     * there are already `most` under this key.
     */
    enterAlone(key: string, most: number): (() => void) | null {
      const count = alone.get(key) ?? 0
      if (count >= most) return null
      alone.set(key, count + 1)
      return () => {
        const left = (alone.get(key) ?? 1) - 1
        if (left > 0) alone.set(key, left)
        else alone.delete(key)
      }
    },
    /**
     * Runs one person's work in batches, one at a time. Messages wait here, without a database
     * connection, rather than in the database for the lock on the person's row.
     */
    inBatch: createBatches(),
    /** `listener` learns of each conversation in which a reply has ended, or may have. */
    onEnded(listener: Listener) {
      heard = listener
    },
    /** Does nothing while the process shuts down. */
    tellEnded(threadId: string) {
      if (isClosing || !heard) return
      const telling = heard(threadId)
      followers.add(telling)
      void telling.finally(() => followers.delete(telling))
    },
    has: (answerId: string) => turns.has(answerId),
    count: () => turns.size,
    /** A turn has ended, stored or not. */
    countEnd(status: EndedReply["status"]) {
      ended[status]++
    },
    /** How many have ended since the start of the process, by how they ended. */
    ended: () => ({ ...ended }),
    /** Resolves when the stopped reply is stored; with false if this process does not run it. */
    async stop(answerId: string): Promise<boolean> {
      const turn = turns.get(answerId)
      turn?.stop("stopped")
      await turn?.stored
      return turn !== undefined
    },
    /**
     * Interrupts every turn, and resolves when the text so far is stored, or when that has failed for
     * some seconds.
     */
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
