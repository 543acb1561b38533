import type { IncomingMessage, ServerResponse } from "node:http"

/**
 * At least this many bytes of a request's body have to arrive in each interval. Milliseconds,
 * bytes.
 */
const PERIOD = 60_000
const LEAST_BYTES = 1000

/** How long a client may read nothing of the data that waits for it. Milliseconds. */
const LONGEST_STALL = 120_000

/**
 * Calls `giveUp` when hardly anything of the body arrives. Intervals in which we did not read do
 * not count.
 */
export function watchSlowBody(incoming: IncomingMessage, giveUp: () => void, period = PERIOD): void {
  let before = incoming.socket.bytesRead
  let hasRested = incoming.isPaused()
  incoming.on("pause", () => (hasRested = true))
  const timer = setInterval(() => {
    const now = incoming.socket.bytesRead
    if (!hasRested && now - before < LEAST_BYTES) giveUp()
    before = now
    hasRested = incoming.isPaused()
  }, period)
  timer.unref()
  const stop = () => clearInterval(timer)
  incoming.once("end", stop)
  incoming.once("close", stop)
}

/**
 * Ends a response that its client has stopped reading. One that has nothing to send may be silent
 * for any time.
 */
export function endStalledResponse(outgoing: ServerResponse, longest = LONGEST_STALL): void {
  outgoing.setTimeout(longest, () => {
    if (outgoing.socket && outgoing.socket.writableLength > 0) outgoing.destroy()
  })
}
