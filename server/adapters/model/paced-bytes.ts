import type { Pace } from "./pace.ts"

/** Packets that are given on as they come: the role is in them, and the first words. */
const AT_ONCE = 4

interface Options {
  pace: Pace
  /**
   * What stands at the end of a stream whose connection broke, in place of the error. Null for an
   * error that should stay one.
   */
  endOf: (error: unknown) => string | null
}

/**
 * The same bytes in fewer packets. What a packet costs is the streams that it passes through behind
 * this one, a dozen in the SDK. An error would overtake what they hold, so that words were lost
 * which have come.
 */
export function paceBytes(
  body: ReadableStream<Uint8Array>,
  { pace, endOf }: Options,
): ReadableStream<Uint8Array> {
  const source = body.getReader()
  const leave = pace.enter()
  const ended = Promise.withResolvers<void>()
  let packets: Uint8Array[] = []
  let arrived = Promise.withResolvers<void>()
  let failure: { error: unknown } | null = null
  let isOver = false
  let given = 0
  let due = 0
  void readAhead()

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await arrived.promise
        if (given >= AT_ONCE) await untilDue()
        if (packets.length > 0) {
          const together = packets
          packets = []
          if (!isOver) arrived = Promise.withResolvers()
          given++
          due = performance.now() + pace.interval
          return controller.enqueue(Buffer.concat(together))
        }
        const end = failure && endOf(failure.error)
        if (failure && end === null) throw failure.error
        if (end) controller.enqueue(new TextEncoder().encode(end))
        controller.close()
      },
      cancel: (reason) => source.cancel(reason),
    },
    { highWaterMark: 0 }, // nothing is given on before somebody wants it
  )

  /** At once, because an error also overtakes what `fetch` holds. */
  async function readAhead() {
    try {
      for (;;) {
        const { done, value } = await source.read()
        if (done) break
        packets.push(value)
        arrived.resolve()
      }
    } catch (error) {
      failure = { error }
    }
    isOver = true
    leave()
    ended.resolve()
    arrived.resolve()
  }

  async function untilDue() {
    const wait = due - performance.now()
    if (wait <= 0 || isOver) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, wait)
    await Promise.race([promise, ended.promise])
    clearTimeout(timer)
  }
}
