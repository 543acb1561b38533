import type { Scope } from "../scope.ts"

const HOUR = 60 * 60 * 1000

/** Milliseconds. Of what was reserved and never begun, most was asked for twice because the first answer got lost. */
export const UNTIL_FIRST_BYTE = HOUR

/** Until when an upload waits for its next byte. Milliseconds since the epoch. */
export function nextExpiry(config: Scope<"config">["config"], now = Date.now()): number {
  return now + config.files.uploadHours * HOUR
}
