import { isRefusal } from "#server/errors.ts"
import { createFailureLog, type Log } from "#server/log.ts"
import type { Blobs } from "#server/ports/blobs.ts"

/** The same store. That it refuses to be written to is logged once, and so is its end. */
export function logRefusals(store: Blobs, log: Log): Blobs {
  const failures = createFailureLog(log, "the blob store can be written again")
  const logging =
    <Given extends unknown[], Result>(act: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      try {
        const result = await act(...given)
        failures.succeeded()
        return result
      } catch (error) {
        const cause = causeOf(error)
        if (cause !== null) failures.failed("error", cause, "the blob store refuses to be written")
        throw error
      }
    }
  return {
    ...store,
    put: logging(store.put),
    append: logging(store.append),
    finish: logging(store.finish),
  }
}

/**
 * Writes nothing into an unfinished blob, and removes it. Resolves with why that is refused, or null; a full store is
 * another matter.
 */
export async function tryStore(store: Blobs): Promise<string | null> {
  const key = store.newKey()
  try {
    await store.append(key, 0, nothing())
    await store.removeUnfinished(key)
    return null
  } catch (error) {
    if (isRefusal(error) && error.status === 507) return null
    const cause = causeOf(error) ?? error
    return cause instanceof Error ? cause.message : String(cause)
  }
}

/** The store's own error, if it refuses to be written to. */
function causeOf(error: unknown): unknown {
  return isRefusal(error) && error.reason === "file-store-refuses" ? error.cause : null
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
