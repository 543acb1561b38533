export interface Recurring {
  /** Resolves when the current run has ended; no other follows. */
  stop(): Promise<void>
}

/**
 * Does the work now, and then every `interval` milliseconds, unless the previous run has not ended.
 * The signal is aborted when the process shuts down: long work checks it. The work never throws.
 */
export function startRecurring(work: (stopping: AbortSignal) => Promise<void>, interval: number): Recurring {
  const stopping = new AbortController()
  let isBusy = false
  let running = Promise.resolve()

  const begin = () => {
    if (isBusy) return
    isBusy = true
    running = work(stopping.signal).finally(() => (isBusy = false))
  }
  begin()
  const timer = setInterval(begin, interval)
  timer.unref()
  return {
    stop() {
      clearInterval(timer)
      stopping.abort()
      return running
    },
  }
}

/** Does the work once. The signal is aborted when the process shuts down. */
export function startOnce(
  work: (stopping: AbortSignal) => Promise<void>,
  failed: (error: unknown) => void,
): Recurring {
  const stopping = new AbortController()
  const running = work(stopping.signal).catch((error: unknown) => {
    if (!stopping.signal.aborted) failed(error)
  })
  return {
    stop() {
      stopping.abort()
      return running
    },
  }
}
