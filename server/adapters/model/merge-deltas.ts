import type { wrapLanguageModel } from "ai"

type Middleware = Extract<Parameters<typeof wrapLanguageModel>[0]["middleware"], { wrapStream?: unknown }>
type Stream = Awaited<ReturnType<NonNullable<Middleware["wrapStream"]>>>["stream"]

/** What a provider makes of the model server's events. */
export type StreamPart = Stream extends ReadableStream<infer Part> ? Part : never

type Delta = StreamPart & { type: "text-delta" | "reasoning-delta" }

/**
 * Makes one delta of those of the same text that come together. `read` gives the parts that take
 * the place of one. What came before an error is given before it.
 */
export function mergeDeltas(
  stream: ReadableStream<StreamPart>,
  read: (part: StreamPart) => StreamPart[],
): ReadableStream<StreamPart> {
  const source = stream.getReader()
  const ready: StreamPart[] = []
  let coming: Promise<boolean> | null = null

  return new ReadableStream<StreamPart>(
    {
      async pull(controller) {
        if (!(await more())) return controller.close()
        const part = ready.shift() as StreamPart
        controller.enqueue(isDelta(part) ? await gather(part) : part)
      },
      cancel: (reason) => source.cancel(reason),
    },
    { highWaterMark: 0 }, // what is queued is lost when the connection breaks
  )

  async function gather(first: Delta): Promise<Delta> {
    let { delta } = first
    const isOver = new Promise<false>((resolve) => setImmediate(resolve, false))
    while (await Promise.race([more().catch(() => false), isOver])) {
      const next = ready[0]
      if (!next || !isDelta(next) || next.type !== first.type || next.id !== first.id) break
      delta += next.delta
      ready.shift()
    }
    return { ...first, delta }
  }

  /**
   * Whether there is another part: the first of `ready`. Asked again while it waits, it waits for
   * the same part.
   */
  function more(): Promise<boolean> {
    if (ready.length > 0) return Promise.resolve(true)
    coming ??= readOn().finally(() => (coming = null))
    return coming
  }

  async function readOn(): Promise<boolean> {
    while (ready.length === 0) {
      const { done, value } = await source.read()
      if (done) return false
      ready.push(...read(value))
    }
    return true
  }
}

function isDelta(part: StreamPart): part is Delta {
  return part.type === "text-delta" || part.type === "reasoning-delta"
}
