/**
 * Of each process, one person may hold this many connections at once; for one of them others of
 * theirs wait this long, in ms, and so many of them.
 */
export const PERSON_SHARE = { connections: 3, waitMs: 5000, waiting: 200 } as const

export interface Shares {
  /**
   * Runs the work when fewer of this person's hold a connection than may. Throws an error with the
   * code `SHARE_IN_USE` after five seconds.
   */
  use<Result>(person: string, work: () => Promise<Result>): Promise<Result>
}

interface Share {
  used: number
  readonly waiting: (() => void)[]
}

/**
 * Divides connections among people, so that what one of them waits for leaves some to the others.
 */
export function createShares(): Shares {
  const shares = new Map<string, Share>()

  return {
    async use(person, work) {
      const share = shares.get(person) ?? { used: 0, waiting: [] }
      shares.set(person, share)
      if (share.used < PERSON_SHARE.connections) share.used += 1
      else await waitFor(share)
      try {
        return await work()
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
    const timer = setTimeout(() => {
      share.waiting.splice(share.waiting.indexOf(begin), 1)
      refuse()
    }, PERSON_SHARE.waitMs)
    share.waiting.push(begin)

    function begin() {
      clearTimeout(timer)
      resolve()
    }
  })
}
