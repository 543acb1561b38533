/** Callers that wait until the stream has passed a position in the log. */
export interface PositionWaiters {
  /**
   * Resolves with true when `arrive` has reported a position at or past `lsn`, with false if that
   * takes too long.
   */
  reached(lsn: bigint, timeoutMs: number): Promise<boolean>
  arrive(position: bigint): void
  /** Releases all waiters. */
  close(): void
}

interface Waiter {
  readonly lsn: bigint
  readonly timers: readonly NodeJS.Timeout[]
  resolve(reached: boolean): void
}

/**
 * `nudge` is called for a position that is not reached soon: it may have been reserved but not
 * written.
 */
export function createPositionWaiters(nudge: () => void): PositionWaiters {
  const waiters = new Set<Waiter>()
  let position = 0n
  let closed = false

  return {
    reached(lsn, timeoutMs) {
      if (position >= lsn) return Promise.resolve(true)
      if (closed) return Promise.resolve(false)
      return new Promise((resolve) => {
        const timers = [setTimeout(nudge, 10), setTimeout(() => settle(waiter, false), timeoutMs)]
        const waiter = { lsn, resolve, timers }
        waiters.add(waiter)
      })
    },
    arrive(at) {
      position = at
      for (const waiter of waiters) if (waiter.lsn <= at) settle(waiter, true)
    },
    close() {
      closed = true
      for (const waiter of waiters) settle(waiter, false)
    },
  }

  function settle(waiter: Waiter, reached: boolean): void {
    waiters.delete(waiter)
    for (const timer of waiter.timers) clearTimeout(timer)
    waiter.resolve(reached)
  }
}
