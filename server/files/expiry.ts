import type { Scope } from "#server/scope.ts"

const HOUR = 60 * 60 * 1000

/**
 * Milliseconds. Of what was reserved and never begun, most was asked for twice because the first
 * answer got lost.
 */
export const UNTIL_FIRST_BYTE = HOUR

/**
 * Milliseconds. An upload that is being sent has its expiry renewed once it has lost this much of
 * it.
 */
export const SPENT = 60_000

/** Milliseconds. An upload in one request is given this again and again while its process lives. */
export const REQUEST_LEASE = 5 * 60_000

/** Until when an upload waits for its next byte. Milliseconds since the epoch. */
export function nextExpiry(config: Scope<"config">["config"], now = Date.now()): number {
  return now + config.files.uploadHours * HOUR
}
