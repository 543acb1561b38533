import type { wrapLanguageModel } from "ai"

type Middleware = Extract<Parameters<typeof wrapLanguageModel>[0]["middleware"], { wrapStream?: unknown }>
type Stream = Awaited<ReturnType<NonNullable<Middleware["wrapStream"]>>>["stream"]

/** The parts that a provider creates from the model server's events. */
export type StreamPart = Stream extends ReadableStream<infer Part> ? Part : never

type Delta = StreamPart & { type: "text-delta" | "reasoning-delta" }

/**
 * Merges consecutive deltas of the same text that arrive together. `read` returns the parts that
 * replace a part. What arrived before an error is passed on before it.
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
    { highWaterMark: 0 }, // queued parts would be lost if the connection broke
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
   * Whether another part is available as the first of `ready`. A second call during the wait waits
   * for the same part.
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
