import type { Scope } from "#server/scope.ts"

const HOUR = 60 * 60 * 1000

/**
 * Milliseconds. Most reservations that are never used were requested twice, because the first
 * response was lost.
 */
export const UNTIL_FIRST_BYTE = HOUR

/** Milliseconds. The expiry of an upload in progress is renewed once this much of it has passed. */
export const SPENT = 60_000

/**
 * Milliseconds. An upload in one request is given this time repeatedly, for as long as its process
 * lives.
 */
export const REQUEST_LEASE = 5 * 60_000

/** When an upload that receives no byte expires, in milliseconds since the epoch. */
export function nextExpiry(config: Scope<"config">["config"], now = Date.now()): number {
  return now + config.files.uploadHours * HOUR
}
