import { ConnectionLost } from "./connection-lost.ts"
import type { Link, LinkListener } from "./link.ts"

/**
 * A link whose code is still loading. Until then it behaves like a link that is not connected yet.
 */
export interface DeferredLink extends Link {
  /** From now on everything is forwarded to this link. */
  connectTo(link: Link): void
  /** Loading failed, and will be retried. */
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
    call: (name, message) => link?.call(name, message) ?? lose(),
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
