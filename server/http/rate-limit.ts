import { createHash } from "node:crypto"

export interface RateLimit {
  success: boolean
  /** How many more requests would be accepted now. */
  remaining: number
  /** Milliseconds since the epoch: when the oldest accepted request leaves the window, so that `remaining` grows. */
  reset: number
}

export interface RateLimiter {
  check(key: string): RateLimit
}

interface RateLimiterOptions {
  /** Milliseconds. */
  interval: number
  /** Requests per interval and key. */
  limit: number
  /** Past this many keys, the one whose last accepted request is the oldest is forgotten. */
  maxKeys?: number
  /** Milliseconds that never run backwards, so that setting the system's clock lets nobody in and locks nobody out. */
  elapsed?: () => number
  /** Milliseconds since the epoch, for `reset` alone. */
  wallClock?: () => number
}

/**
 * An exact sliding window: per key, the moments of the accepted requests that are younger than `interval`. A rejected
 * request does not count. The state lives in this process's memory, without timers: each check forgets what has run out.
 */
export function createRateLimiter({
  interval,
  limit,
  maxKeys = 100_000,
  elapsed = () => performance.now(),
  wallClock = Date.now,
}: RateLimiterOptions): RateLimiter {
  // In the order of the last accepted request, so that whatever can be forgotten is at the front.
  const accepted = new Map<string, number[]>()

  return {
    check(name) {
      const now = elapsed()
      const key = boundedKey(name)
      const moments = accepted.get(key)?.filter((moment) => now - moment < interval) ?? []

      const success = moments.length < limit
      if (success) {
        moments.push(now)
        accepted.delete(key)
        accepted.set(key, moments)
        forgetOldKeys(now)
      }
      const oldest = moments[0] ?? now
      return {
        success,
        remaining: limit - moments.length,
        reset: wallClock() + Math.ceil(oldest + interval - now),
      }
    },
  }

  /** Two keys at most, so that no request pays for the keys of a whole flood; one new key comes per check, so it keeps up. */
  function forgetOldKeys(now: number) {
    for (let forgotten = 0; forgotten < 2; forgotten++) {
      const [key, moments] = accepted.entries().next().value ?? []
      if (key === undefined) return
      const latest = moments?.at(-1) ?? 0
      if (now - latest < interval && accepted.size <= maxKeys) return
      accepted.delete(key)
    }
  }
}

/** The headers of the specification. A rejection also says in `Retry-After` how many whole seconds to wait. */
export function rateLimitHeaders({ success, remaining, reset }: RateLimit): Record<string, string> {
  return {
    "X-RateLimit-Remaining": String(remaining),
    "X-RateLimit-Reset": String(reset),
    ...(success ? {} : { "Retry-After": String(Math.max(0, Math.ceil((reset - Date.now()) / 1000))) }),
  }
}

/** A key comes from a request header. It is kept, so its length must not be the sender's choice. */
function boundedKey(key: string): string {
  return key.length <= 64 ? key : createHash("sha256").update(key).digest("base64url")
}
