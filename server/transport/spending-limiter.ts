import { createRateLimiter, type RateLimit } from "./rate-limit.ts"

/** Who causes a cost. */
export interface Spender {
  userId: string
  /** As `networkIn` returns it. */
  network: string
}

export interface SpendingLimiter {
  /** Counts one more, unless that exceeds `most` in the interval. */
  check(spender: Spender, most: { ofPerson: number; ofNetwork: number }): RateLimit
}

/**
 * Limits costs by person and by network, whereas the limits of the contract (docs/http-api.md)
 * count by what a client claims. `interval` is in milliseconds.
 */
export function createSpendingLimiter(interval: number): SpendingLimiter {
  const people = createRateLimiter({ interval, limit: 0 })
  const networks = createRateLimiter({ interval, limit: 0 })
  return {
    check({ userId, network }, most) {
      // What the network is refused does not count for the person.
      const shared = networks.foresee(network, most.ofNetwork)
      if (!shared.success) return shared
      const own = people.check(userId, most.ofPerson)
      return own.success ? networks.check(network, most.ofNetwork) : own
    },
  }
}

/**
 * Replies per minute. A person can use their whole limit from each of three networks, and twenty
 * people can use theirs from one.
 */
export function replyLimit({ chatPerMinute }: { chatPerMinute: number }) {
  return { ofPerson: 3 * chatPerMinute, ofNetwork: 20 * chatPerMinute }
}
