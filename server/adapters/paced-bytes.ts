import type { Pace } from "./pace.ts"

/** Packets that are given on as they come: the role is in them, and the first words. */
const AT_ONCE = 4

/**
 * The same bytes in fewer packets. What a packet costs is the streams that it passes through behind this one, a dozen in the SDK. What
 * came before a connection broke is given on before the error.
 */
export function paceBytes(body: ReadableStream<Uint8Array>, pace: Pace): ReadableStream<Uint8Array> {
  const source = body.getReader()
  const leave = pace.enter()
  let coming: ReturnType<typeof source.read> | null = null
  let given = 0
  let due = 0

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await next()
          coming = null
          if (!done) return controller.enqueue(await gather(value))
          leave()
          controller.close()
        } catch (error) {
          leave()
          throw error
        }
      },
      cancel(reason) {
        leave()
        return source.cancel(reason)
      },
    },
    { highWaterMark: 0 }, // what is queued is lost when the connection breaks
  )

  /** Asked again while it waits, it waits for the same packet. */
  function next() {
    coming ??= source.read()
    return coming
  }

  async function gather(first: Uint8Array): Promise<Uint8Array> {
    const packets = [first]
    const wait = given++ < AT_ONCE ? 0 : due - performance.now()
    if (wait > 0) {
      const { promise: isDue, resolve } = Promise.withResolvers<null>()
      const timer = setTimeout(resolve, wait, null)
      for (;;) {
        const more = await Promise.race([next().catch(() => null), isDue])
        if (!more?.value) break
        coming = null
        packets.push(more.value)
      }
      clearTimeout(timer)
    }
    due = performance.now() + pace.interval
    return packets.length === 1 ? first : Buffer.concat(packets)
  }
}
