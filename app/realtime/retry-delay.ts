/**
 * Milliseconds. A process that was killed is back within this, mostly, and should not be waited for
 * any longer than it takes.
 */
const SOON = { within: 30_000, ceiling: 2000 }
const CEILING = 10_000

/**
 * How long to wait before the next attempt to connect, in ms. `chance` is a number from 0 to 1,
 * which spreads the clients of a restarted server over the whole time. `downFor` is in ms.
 */
export function retryDelay(attempt: number, downFor: number, chance: number): number {
  return chance * Math.min(downFor < SOON.within ? SOON.ceiling : CEILING, 250 * 2 ** attempt)
}
