import postgres from "postgres"
import { answerCommands } from "../program.ts"
import { now } from "../statistics.ts"

// Run as a program: writes at a steady rate, whether or not earlier writes have finished, and
// reports when each was committed. A procedure in the database does the writing, because a client
// that made thousands of commits a second would take CPU from the measured processes.

/** Enough writers that no write waits for the commit of another. */
const WRITERS = 8

const sql = postgres(process.argv[2] ?? "", { max: WRITERS, onnotice() {} })
let written = 0

const commands = {
  /** Makes `count` writes at `perSecond`, each to the room of one of `sockets`. */
  write(count: number, perSecond: number, sockets: number) {
    return writeTo(count, perSecond, sockets)
  },
  /** Writes to the shared room. */
  writeShared(count: number, perSecond: number) {
    return writeTo(count, perSecond, 0)
  },
}
export type WriterCommands = typeof commands

/**
 * Returns the number of the first write and the times at which each was committed, in ms of the
 * monotonic clock.
 */
async function writeTo(count: number, perSecond: number, sockets: number) {
  const first = written
  written += count
  const committed = new Float64Array(count)
  const begun = now()
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      const [answer] = await sql<{ committed: number[] }[]>`
        call write_notes(${first}, ${count}, ${writer}, ${WRITERS}, ${perSecond}, ${sockets}, ${[] as number[]})`
      const ahead = wallClockAhead()
      for (const [step, time] of (answer?.committed ?? []).entries())
        committed[writer + step * WRITERS] = time - ahead
    }),
  )
  const seconds = (now() - begun) / 1000
  return { first, committed, perSecond: (count - 1) / seconds }
}

/**
 * The milliseconds by which the wall clock, which the database reports, is ahead of `now()`.
 * Sampled when `Date.now()` advances, because its resolution is a millisecond.
 */
function wallClockAhead(): number {
  const before = Date.now()
  let after = before
  while (after === before) after = Date.now()
  return after - now()
}

answerCommands(commands)
