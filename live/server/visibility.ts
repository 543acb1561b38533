/** Which transactions a snapshot sees. */
export type Visibility = VisibleByXid | VisibleByPosition

/**
 * On a primary, as `pg_current_snapshot()` prints it: `xmin:xmax:xip,xip…`, in 64-bit transaction
 * ids.
 */
export interface VisibleByXid {
  readonly xmin: bigint
  readonly xmax: bigint
  readonly running: ReadonlySet<bigint>
}

/**
 * On a standby, which makes commits visible in the order of the log. Its `pg_current_snapshot()`
 * leaves out the running transactions: it keeps them where that function does not look.
 */
export interface VisibleByPosition {
  /** Everything that ends here or earlier is seen. */
  readonly surely: bigint
  /** Nothing that ends after this is seen. */
  readonly atMost: bigint
}

/** A transaction's place among the others. */
export interface Moment {
  readonly xid: bigint
  readonly end: bigint
}

export function readVisibility(text: string): VisibleByXid {
  const [xmin = "", xmax = "", running = ""] = text.split(":")
  return {
    xmin: BigInt(xmin),
    xmax: BigInt(xmax),
    running: new Set(running === "" ? [] : running.split(",").map(BigInt)),
  }
}

/**
 * Whether the effects of a committed transaction are in the snapshot. False also if that is not
 * known, which only a standby's snapshot leaves open, for what it replayed in the meantime.
 */
export function sees(snapshot: Visibility, { xid, end }: Moment): boolean {
  if ("surely" in snapshot) return end <= snapshot.surely
  if (xid < snapshot.xmin) return true
  return xid < snapshot.xmax && !snapshot.running.has(xid)
}

/** The same, true also if that is not known. */
export function maySee(snapshot: Visibility, moment: Moment): boolean {
  return "surely" in snapshot ? moment.end <= snapshot.atMost : sees(snapshot, moment)
}

/** The log carries 32-bit transaction ids; the full one is the nearest to any recent full id. */
export function widenXid(short: number, recent: bigint): bigint {
  const candidate = (recent & ~0xffff_ffffn) | BigInt(short)
  if (candidate - recent > 0x8000_0000n && candidate >= 0x1_0000_0000n) return candidate - 0x1_0000_0000n
  if (recent - candidate > 0x8000_0000n) return candidate + 0x1_0000_0000n
  return candidate
}
