import { ConnectionLost } from "./connection-lost.ts"
import type { Link, LinkListener } from "./link.ts"

/**
 * Stands for a link whose code is still on its way: who uses it finds it not up yet, as any link at
 * first.
 */
export interface DeferredLink extends Link {
  /** From now on it is this one. */
  connectTo(link: Link): void
  /** It has not come, and is tried for again. */
  fail(): void
}

export function createDeferredLink(): DeferredLink {
  let link: Link | null = null
  let listener: LinkListener | null = null

  return {
    connectTo(to) {
      link = to
      if (listener) to.listen(listener)
    },
    fail: () => listener?.changed("down"),
    listen(given) {
      listener = given
      link?.listen(given)
    },
    subscribe: (subscriptions) => link?.subscribe(subscriptions) ?? lose(),
    unsubscribe: (ids) => link?.unsubscribe(ids),
    query: (message) => link?.query(message) ?? lose(),
    mutate: (message) => link?.mutate(message) ?? lose(),
    await: (lsn) => link?.await(lsn),
    wake: () => link?.wake(),
    close() {
      link?.close()
      link = null
    },
  }
}

function lose() {
  return Promise.reject(new ConnectionLost())
}
