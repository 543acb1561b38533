import { setImmediate as nextTurn } from "node:timers/promises"

/**
 * Runs an operation in this process, and returns its result with the longest time for which it kept
 * the event loop from everybody else. The time is the processor time of this thread within one turn
 * of the loop, in milliseconds, so that a busy machine changes nothing.
 */
export async function longestBlock<Result>(
  operation: () => Promise<Result> | Result,
): Promise<{ result: Result; milliseconds: number }> {
  const monitor = watchTurns()
  try {
    await nextTurn()
    const result = await operation()
    await nextTurn() // the turn that the operation ended in
    return { result, milliseconds: monitor.longest() }
  } finally {
    monitor.stop()
  }
}

/** An immediate is due in every turn, so the loop never waits, and each turn is measured. */
function watchTurns() {
  let longest = 0
  let last = process.threadCpuUsage()
  let next = setImmediate(measure)

  function measure() {
    const { user, system } = process.threadCpuUsage(last)
    longest = Math.max(longest, (user + system) / 1000)
    last = process.threadCpuUsage()
    next = setImmediate(measure)
  }

  return { longest: () => longest, stop: () => clearImmediate(next) }
}
