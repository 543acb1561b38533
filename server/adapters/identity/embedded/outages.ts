import { isOutage } from "#live/check"

/** Finds out that the database was unreachable where better-auth only says that it failed. */
export function watchOutages() {
  let count = 0
  let last: Error | null = null
  return {
    notice(error: Error) {
      if (!isOutage(error)) return
      count += 1
      last = error
    },
    /** Resolves with what `ask` does. If it fails during an outage, throws that outage. */
    async during<Answer>(ask: () => Promise<Answer>, isFailure: (answer: Answer) => boolean = () => false) {
      const before = count
      const outage = () => (count > before ? last : null)
      const answer = await ask().catch((error: unknown) => {
        throw outage() ?? error
      })
      const cause = isFailure(answer) ? outage() : null
      if (cause) throw cause
      return answer
    },
  }
}
