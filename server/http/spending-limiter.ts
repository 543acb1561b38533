import { createRateLimiter, type RateLimit } from "#server/transport/rate-limit.ts"

/** Who has something done that costs money. */
export interface Spender {
  userId: string
  /** As `networkIn` says it. */
  network: string
}

export interface SpendingLimiter {
  /** Counts one more, unless that is more than `most` in the interval. */
  check(spender: Spender, most: { ofPerson: number; ofNetwork: number }): RateLimit
}

/**
 * Limits what costs money, by person and by network, where the limits of the contract
 * (docs/http-api.md) count by what a client claims. `interval` is in milliseconds.
 */
export function createSpendingLimiter(interval: number): SpendingLimiter {
  const people = createRateLimiter({ interval, limit: 0 })
  const networks = createRateLimiter({ interval, limit: 0 })
  return {
    check({ userId, network }, most) {
      const own = people.check(userId, most.ofPerson)
      return own.success ? networks.check(network, most.ofNetwork) : own
    },
  }
}

/** Emails of POST /api/email in an hour. Several people share a network. */
export const MOST_EMAILS = { ofPerson: 30, ofNetwork: 120 }

/**
 * Answers in a minute. A person may use all that is theirs at three addresses, and twenty people
 * may at one.
 */
export function replyLimit({ chatPerMinute }: { chatPerMinute: number }) {
  return { ofPerson: 3 * chatPerMinute, ofNetwork: 20 * chatPerMinute }
}
