/** A token bucket: how much may be done on average, and at once. */
export interface Allowance {
  /** False if there is nothing left. */
  take(): boolean
}

export function createAllowance(perSecond: number, atOnce: number): Allowance {
  let left = atOnce
  let at = performance.now()
  return {
    take() {
      const now = performance.now()
      left = Math.min(atOnce, left + ((now - at) / 1000) * perSecond)
      at = now
      if (left < 1) return false
      left -= 1
      return true
    },
  }
}
