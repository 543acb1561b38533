import type { Hear, HeardPiece } from "#server/ports/model.ts"

/** How often running answers are told on: the more of them there are, the more is told at once. */
export interface Pace {
  /** An answer begins; call what is returned when it ends. */
  enter(): () => void
  /** Milliseconds that lie at least between two pieces of one answer. */
  readonly interval: number
}

/** Below what is felt as a pause. The page follows the records, which come about as often. */
const SHORTEST = 100

/** More for each answer that runs: fifty still have the shortest interval, and a hundred have 200 ms. */
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

/** Tells pieces on as often as the pace allows: the first at once, and those that come too soon after it together. */
export function tellAtPace(hear: Hear, pace: Pace) {
  let untold: HeardPiece | null = null
  let timer: NodeJS.Timeout | null = null
  /** When the next piece may be told. It does not move when a timer is late, or lateness would add up. */
  let next = 0
  let isStopped = false

  function flush() {
    if (timer) clearTimeout(timer)
    timer = null
    if (!untold) return
    const piece = untold
    untold = null
    next = Math.max(next, performance.now() - pace.interval) + pace.interval
    hear(piece)
  }

  return {
    /** Follows the piece before, and is of the same kind unless that was flushed. */
    add(piece: HeardPiece) {
      if (isStopped) return
      if (untold) untold.text += piece.text
      else untold = { ...piece }
      if (timer) return
      const wait = next - performance.now()
      if (wait <= 0) flush()
      else timer = setTimeout(flush, wait)
    },
    flush,
    /** What was not told is not. */
    stop() {
      isStopped = true
      untold = null
      flush()
    },
  }
}
