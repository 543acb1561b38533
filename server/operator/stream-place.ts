import * as v from "valibot"
import type { Measured } from "#live/open"

const Count = v.pipe(v.number(), v.minValue(0))

/** Where a process is in PostgreSQL's log. */
export const StreamPlace = v.object({
  /** The id that the operating system gave it. */
  pid: Count,
  /** Bytes from the beginning of the log: an LSN as a number. */
  position: Count,
  /** Milliseconds since the last message from PostgreSQL; 0 while the stream is healthy. */
  lag: Count,
  /** Whether it reads from a standby. */
  isOnStandby: v.boolean(),
})
export type StreamPlace = v.InferOutput<typeof StreamPlace>

/** Of this process. */
export function findStreamPlace(live: { measured(): Measured[] }): StreamPlace {
  const gauges = new Map<string, number>()
  for (const { kind, name, value } of live.measured()) if (kind === "gauge") gauges.set(name, value)
  return {
    pid: process.pid,
    position: gauges.get("position_bytes") ?? 0,
    lag: gauges.get("stream_lag_ms") ?? 0,
    isOnStandby: gauges.get("reads_standby") === 1,
  }
}
