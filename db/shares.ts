/**
 * Of each process, one person may hold this many connections at once; so many others of theirs wait
 * for one of them, for at most `longestWaitMs`, and no longer than `waitMs` without one of theirs
 * succeeding. ms.
 */
export const PERSON_SHARE = { connections: 3, waitMs: 5000, longestWaitMs: 30_000, waiting: 200 } as const

export interface Shares {
  /**
   * Runs the work when fewer of this person's hold a connection than may. Throws an error with the
   * code `SHARE_IN_USE` when that takes too long.
   */
  use<Result>(person: string, work: () => Promise<Result>): Promise<Result>
}

interface Share {
  used: number
  /**
   * When one of them last succeeded, by `performance.now()`. A long queue that moves is no reason to
   * refuse anybody; one whose connections all wait for something else is.
   */
  succeededAt: number
  readonly waiting: (() => void)[]
}

/**
 * Divides connections among people, so that what one of them waits for leaves some to the others.
 */
export function createShares(): Shares {
  const shares = new Map<string, Share>()

  return {
    async use(person, work) {
      const share = shares.get(person) ?? { used: 0, succeededAt: performance.now(), waiting: [] }
      shares.set(person, share)
      if (share.used < PERSON_SHARE.connections) share.used += 1
      else await waitFor(share)
      try {
        const result = await work()
        share.succeededAt = performance.now()
        return result
      } finally {
        const next = share.waiting.shift()
        if (next) next()
        else share.used -= 1
        if (share.used === 0) shares.delete(person)
      }
    },
  }
}

/** Resolves with the place of one that has finished. */
function waitFor(share: Share): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = () =>
      reject(
        Object.assign(new Error("One person has too many queries in progress."), { code: "SHARE_IN_USE" }),
      )
    if (share.waiting.length >= PERSON_SHARE.waiting) return refuse()
    const since = performance.now()
    let timer = setTimeout(checkProgress, PERSON_SHARE.waitMs)
    share.waiting.push(begin)

    function checkProgress() {
      const { waitMs, longestWaitMs } = PERSON_SHARE
      const until = Math.min(Math.max(share.succeededAt, since) + waitMs, since + longestWaitMs)
      const left = until - performance.now()
      if (left > 0) timer = setTimeout(checkProgress, left)
      else {
        share.waiting.splice(share.waiting.indexOf(begin), 1)
        refuse()
      }
    }

    function begin() {
      clearTimeout(timer)
      resolve()
    }
  })
}
