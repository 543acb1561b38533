/**
 * How often the chunks of running replies are passed on: with more replies, less often and more at
 * a time.
 */
export interface Pace {
  /** Registers a reply; call the returned function when it ends. */
  enter(): () => void
  /** The shortest interval between two chunks of a reply, in milliseconds. */
  readonly interval: number
}

/**
 * Shorter than a pause that people notice. The page follows the records, which arrive about as
 * often.
 */
const SHORTEST = 100

/**
 * Longer with each running reply: fifty still have the shortest interval, and a hundred have 200
 * ms.
 */
const PER_ANSWER = 2

/** The live records send a reply's text to readers at the same rate. */
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
