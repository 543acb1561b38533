import { createHash } from "node:crypto"

export interface RateLimit {
  success: boolean
  /** How many more requests would be accepted now. */
  remaining: number
  /**
   * Milliseconds since the epoch: when the oldest accepted request leaves the window, so that
   * `remaining` grows.
   */
  reset: number
}

export interface RateLimiter {
  /** `limit` overrides the limiter's own, for callers with a higher or lower limit. */
  check(key: string, limit?: number): RateLimit
  /** What `check` would return, without counting the request. */
  foresee(key: string, limit?: number): RateLimit
}

interface RateLimiterOptions {
  /** Milliseconds. */
  interval: number
  /** Requests per interval and key. */
  limit: number
  /** Above this many keys, the one with the oldest accepted request is evicted. */
  maxKeys?: number
  /** Milliseconds since the epoch. */
  clock?: () => number
}

/**
 * An exact sliding window: per key, the times of the accepted requests that are younger than
 * `interval`. A rejected request does not count. The state is in this process's memory, without
 * timers: each check removes what has expired.
 */
export function createRateLimiter({
  interval,
  limit,
  maxKeys = 100_000,
  clock = Date.now,
}: RateLimiterOptions): RateLimiter {
  const known = new Map<string, Sender>()
  const queue = createQueue()
  let latest = 0

  return {
    check(name, allowed = limit) {
      const now = readClock()
      const key = boundedKey(name)
      const sender = known.get(key) ?? { key, accepted: [], older: null, newer: null }
      const inWindow = sender.accepted.filter((moment) => now - moment < interval)
      const limited = judge(inWindow, allowed, now)
      if (limited.success) {
        sender.accepted = inWindow.concat(now)
        known.set(key, sender)
        queue.moveToEnd(sender)
        forgetSome(now)
      }
      return limited
    },
    foresee(name, allowed = limit) {
      const now = readClock()
      const accepted = known.get(boundedKey(name))?.accepted ?? []
      return judge(
        accepted.filter((moment) => now - moment < interval),
        allowed,
        now,
      )
    },
  }

  function judge(inWindow: readonly number[], allowed: number, now: number): RateLimit {
    return {
      success: inWindow.length < allowed,
      remaining: Math.max(0, allowed - inWindow.length - 1),
      // After the limit was lowered, a client waits until what exceeds it has expired.
      reset: (inWindow[Math.max(0, inWindow.length - allowed)] ?? now) + interval,
    }
  }

  /**
   * If the clock is set back a little, callers wait. If it is set back by more than a window, all
   * counts are dropped.
   */
  function readClock() {
    const now = clock()
    if (now < latest - interval) while (forgetOldest());
    else if (now < latest) return latest
    latest = now
    return now
  }

  /**
   * Two at most, so that no single request pays for a flood. Each request adds at most one key, so
   * this keeps up.
   */
  function forgetSome(now: number) {
    for (let forgotten = 0; forgotten < 2; forgotten++) {
      const isDone = now - (queue.oldest()?.accepted.at(-1) ?? now) >= interval
      if (isDone || known.size > maxKeys) forgetOldest()
    }
  }

  function forgetOldest(): boolean {
    const sender = queue.oldest()
    if (!sender) return false
    queue.remove(sender)
    return known.delete(sender.key)
  }
}

interface Sender {
  key: string
  /** Times, oldest first. */
  accepted: number[]
  older: Sender | null
  newer: Sender | null
}

/**
 * In the order of the last accepted request. A Map has an order too, but finding its first key
 * iterates over all deleted ones.
 */
function createQueue() {
  let oldest: Sender | null = null
  let newest: Sender | null = null

  function remove(sender: Sender) {
    const { older, newer } = sender
    if (older) older.newer = newer
    else if (oldest === sender) oldest = newer
    if (newer) newer.older = older
    else if (newest === sender) newest = older
    sender.older = null
    sender.newer = null
  }

  return {
    oldest: () => oldest,
    remove,
    moveToEnd(sender: Sender) {
      remove(sender)
      sender.older = newest
      if (newest) newest.newer = sender
      else oldest = sender
      newest = sender
    },
  }
}

/**
 * The headers that docs/http-api.md promises. A rejection also says in `Retry-After` how many whole
 * seconds to wait.
 */
export function rateLimitHeaders({ success, remaining, reset }: RateLimit): Record<string, string> {
  return {
    "X-RateLimit-Remaining": String(remaining),
    "X-RateLimit-Reset": String(reset),
    ...(success ? {} : { "Retry-After": String(Math.max(0, Math.ceil((reset - Date.now()) / 1000))) }),
  }
}

/** A key comes from a request header and is stored, so the sender must not control its length. */
function boundedKey(key: string): string {
  return key.length <= 64 ? key : createHash("sha256").update(key).digest("base64url")
}
