import { importAgain } from "./import-again.ts"
import { whenWanted } from "./when-wanted.ts"

/** Code that is loaded after the page. */
export interface Later<Parts> {
  /** Null until it is loaded. */
  current(): Parts | null
  /** Whether it could not be loaded yet. */
  hasFailed(): boolean
  /** Calls `listener` once the code is loaded or could not be. Returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void
  /** Loads it now, or a second after an attempt that failed. */
  fetch(): void
}

/** Milliseconds. A growing reply asks for its code with every word. */
const PAUSE = 1000

/**
 * Defers loading code until the user first interacts, or while they read. It delays no page, but is
 * there before it is needed, even if the connection is lost by then.
 */
export function later<Parts extends object>(
  load: () => Promise<Parts>,
  when: (act: () => void) => void = whenWanted,
): Later<Parts> {
  let parts: Parts | null = null
  let coming: Promise<void> | null = null
  let isAwaited = false
  let hasFailed = false
  const listeners = new Set<() => void>()

  function fetch() {
    isAwaited = true
    coming ??= importAgain(load).then(
      (loaded) => {
        parts = loaded
        hasFailed = false
        for (const listener of listeners) listener()
      },
      () => {
        isAwaited = false
        hasFailed = true
        for (const listener of listeners) listener()
        setTimeout(tryAgain, PAUSE)
      },
    )
  }

  function tryAgain() {
    coming = null
    if (isAwaited) fetch()
  }

  if (typeof document !== "undefined") when(fetch)

  return {
    current: () => parts,
    hasFailed: () => hasFailed,
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    fetch,
  }
}
