import type { AccessLease } from "#server/running-requests.ts"
import type { Scope } from "#server/scope.ts"

/**
 * The body, broken off when the viewer loses the access to one of these spaces (null: none), in
 * whichever process that happens. `askedAt` is the value of `performance.now()` before their access
 * was checked.
 */
export function untilAccessEnds(
  { runningRequests, viewer }: Scope<"runningRequests" | "viewer">,
  spaceIds: readonly (string | null)[],
  askedAt: number,
  body: ReadableStream<Uint8Array>,
): ReadableStream<Uint8Array> {
  const named = new Set(spaceIds.filter((spaceId) => spaceId !== null))
  if (named.size === 0) return body
  const leases = [...named].map((spaceId) =>
    runningRequests.lease({ userId: viewer.session.userId, spaceId, right: "read", askedAt }),
  )
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  body
    .pipeTo(writable, { signal: AbortSignal.any(leases.map(({ signal }) => signal)) })
    // The reader of the other side sees why.
    .catch(() => {})
    .finally(() => {
      for (const { release } of leases) release()
    })
  return readable
}

/** Holds the right to add to a space; null outside of spaces. `askedAt` as above. */
export function leaseToEdit(
  { runningRequests, viewer }: Scope<"runningRequests" | "viewer">,
  spaceId: string | null,
  askedAt: number,
): AccessLease | null {
  if (spaceId === null) return null
  return runningRequests.lease({ userId: viewer.session.userId, spaceId, right: "edit", askedAt })
}

/**
 * The chunks until the signal is aborted, also while none arrives. Throws its reason then.
 */
export async function* untilAborted<Chunk>(
  signal: AbortSignal,
  chunks: AsyncIterable<Chunk>,
): AsyncGenerator<Chunk> {
  const iterator = chunks[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { done, value } = await nextOf(iterator, signal)
      if (done) return
      yield value
    }
  } finally {
    // Not awaited: it waits for the chunk that is not arriving.
    void iterator.return?.()
  }
}

function nextOf<Chunk>(iterator: AsyncIterator<Chunk>, signal: AbortSignal): Promise<IteratorResult<Chunk>> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error)
    if (signal.aborted) return stop()
    signal.addEventListener("abort", stop, { once: true })
    iterator
      .next()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", stop))
  })
}
