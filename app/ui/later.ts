import { importAgain } from "./import-again.ts"
import { whenWanted } from "./when-wanted.ts"

/** Code that is not there at first. */
export interface Later<Parts> {
  /** Null until it has come. */
  current(): Parts | null
  /** Tells when it has come. Returns what ends that. */
  subscribe(listener: () => void): () => void
  /** Has it come now. */
  fetch(): void
}

/**
 * Code that a page can do without at first. It comes at the first sign of a person, or while they
 * read: it delays no page, and is there before it is needed, and when the connection no longer is.
 */
export function later<Parts extends object>(load: () => Promise<Parts>): Later<Parts> {
  let parts: Parts | null = null
  let coming: Promise<void> | null = null
  const listeners = new Set<() => void>()

  function fetch() {
    coming ??= importAgain(load).then(
      (loaded) => {
        parts = loaded
        for (const listener of listeners) listener()
      },
      // The next caller asks again.
      () => void (coming = null),
    )
  }

  if (typeof document !== "undefined") whenWanted(fetch)

  return {
    current: () => parts,
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    fetch,
  }
}
