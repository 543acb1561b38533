import { Unavailable } from "#server/errors.ts"

/**
 * At most this many run at the same time. The others queue; one that waited for `timeout`
 * milliseconds is rejected with `Unavailable`.
 */
export function createTurns(most: number, timeout: number) {
  const waiting: (() => void)[] = []
  let taken = 0

  return async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (taken < most) taken++
    else await turn()
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else taken--
    }
  }

  function turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(begin), 1)
        reject(new Unavailable("too-many-uploads-on-server"))
      }, timeout)
      waiting.push(begin)
    })
  }
}
