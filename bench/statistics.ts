/** The value below which this share of the values lie; NaN if there are none. */
export function percentile(values: ArrayLike<number>, share: number): number {
  const sorted = Float64Array.from(values).toSorted()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function median(values: ArrayLike<number>): number {
  return percentile(values, 0.5)
}

/** The monotonic clock in ms, which all processes on a machine share. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
