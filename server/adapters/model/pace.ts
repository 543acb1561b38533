/**
 * How often running answers are given on: the more of them there are, the more is given at once.
 */
export interface Pace {
  /** An answer begins; call what is returned when it ends. */
  enter(): () => void
  /** Milliseconds that lie at least between two pieces of one answer. */
  readonly interval: number
}

/** Below what is felt as a pause. The page follows the records, which come about as often. */
const SHORTEST = 100

/**
 * More for each answer that runs: fifty still have the shortest interval, and a hundred have 200
 * ms.
 */
const PER_ANSWER = 2

/** The live records bring an answer's text as often to those who follow them. */
const LONGEST = 250

export function createPace(): Pace {
  let running = 0
  return {
    enter() {
      running++
      let hasLeft = false
      return () => {
        if (hasLeft) return
        hasLeft = true
        running--
      }
    },
    get interval() {
      return Math.min(LONGEST, Math.max(SHORTEST, PER_ANSWER * running))
    },
  }
}
