import { setImmediate as nextTurn } from "node:timers/promises"
import type { Pace } from "./pace.ts"

/** The first packets are passed on as they arrive: they contain the role and the first words. */
const AT_ONCE = 4

/** Bytes that are passed on in one turn of the event loop, so that others get theirs. */
const MOST_AT_ONCE = 32 * 1024

interface Options {
  pace: Pace
  /**
   * The bytes that end a stream whose connection broke, in place of the error. Null for an error
   * that should remain one.
   */
  endOf: (error: unknown) => string | null
}

/**
 * The same bytes in fewer packets. A packet's cost is that of the dozen streams in the SDK which it
 * passes through. An error would overtake the bytes that these hold, and text that has arrived
 * would be lost.
 */
export function paceBytes(
  body: ReadableStream<Uint8Array>,
  { pace, endOf }: Options,
): ReadableStream<Uint8Array> {
  const source = body.getReader()
  const leave = pace.enter()
  const ended = Promise.withResolvers<void>()
  let packets: Uint8Array[] = []
  let rest = Buffer.alloc(0)
  let arrived = Promise.withResolvers<void>()
  let failure: { error: unknown } | null = null
  let isOver = false
  let given = 0
  let due = 0
  void readAhead()

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (rest.length > 0) {
          await nextTurn()
          return give(controller)
        }
        await arrived.promise
        if (given >= AT_ONCE) await untilDue()
        if (packets.length > 0) {
          rest = Buffer.concat(packets)
          packets = []
          if (!isOver) arrived = Promise.withResolvers()
          given++
          due = performance.now() + pace.interval
          return give(controller)
        }
        const end = failure && endOf(failure.error)
        if (failure && end === null) throw failure.error
        if (end) controller.enqueue(new TextEncoder().encode(end))
        controller.close()
      },
      cancel: (reason) => source.cancel(reason),
    },
    { highWaterMark: 0 }, // nothing is passed on before it is requested
  )

  function give(controller: ReadableStreamDefaultController<Uint8Array>) {
    controller.enqueue(rest.subarray(0, MOST_AT_ONCE))
    rest = rest.subarray(MOST_AT_ONCE)
  }

  /** Immediately, because an error also overtakes what `fetch` holds. */
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
