/**
 * The transactions that a PostgreSQL snapshot sees, as `pg_current_snapshot()` prints it:
 * `xmin:xmax:xip,xip…`, in 64-bit transaction ids.
 */
export interface Visibility {
  readonly xmin: bigint
  readonly xmax: bigint
  readonly running: ReadonlySet<bigint>
}

export function readVisibility(text: string): Visibility {
  const [xmin = "", xmax = "", running = ""] = text.split(":")
  return {
    xmin: BigInt(xmin),
    xmax: BigInt(xmax),
    running: new Set(running === "" ? [] : running.split(",").map(BigInt)),
  }
}

/** Whether the effects of a committed transaction are in the snapshot. */
export function sees(snapshot: Visibility, xid: bigint): boolean {
  if (xid < snapshot.xmin) return true
  return xid < snapshot.xmax && !snapshot.running.has(xid)
}

/** The log carries 32-bit transaction ids; the full one is the nearest to any recent full id. */
export function widenXid(short: number, recent: bigint): bigint {
  const candidate = (recent & ~0xffff_ffffn) | BigInt(short)
  if (candidate - recent > 0x8000_0000n && candidate >= 0x1_0000_0000n) return candidate - 0x1_0000_0000n
  if (recent - candidate > 0x8000_0000n) return candidate + 0x1_0000_0000n
  return candidate
}
