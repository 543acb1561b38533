/**
 * Milliseconds. A killed process is usually back within this time, so retry often enough to notice
 * soon.
 */
const SOON = { within: 30_000, ceiling: 2000 }
const CEILING = 10_000

/**
 * The delay before the next attempt to connect, in ms. `chance` is a number from 0 to 1, which
 * spreads the clients of a restarted server over the whole time. `downFor` is in ms.
 */
export function retryDelay(attempt: number, downFor: number, chance: number): number {
  return chance * Math.min(downFor < SOON.within ? SOON.ceiling : CEILING, 250 * 2 ** attempt)
}
