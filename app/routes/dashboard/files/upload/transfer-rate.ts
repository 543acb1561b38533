/** Milliseconds over which the rate is averaged. */
const WINDOW = 5000

export type TransferRate = ReturnType<typeof createTransferRate>

/** The rate of sending over the last seconds. Timestamps are in milliseconds. */
export function createTransferRate() {
  let began: number | undefined
  let steps: { at: number; bytes: number }[] = []

  return {
    add(bytes: number, at: number) {
      began ??= at
      steps.push({ at, bytes })
      if ((steps[0]?.at ?? at) < at - 2 * WINDOW) steps = steps.filter((step) => step.at >= at - WINDOW)
    },
    /** Null at the beginning, when it would be too inaccurate. */
    perSecond(at: number): number | null {
      if (began === undefined || at - began < 800) return null
      const sum = steps.reduce((total, step) => (step.at >= at - WINDOW ? total + step.bytes : total), 0)
      return (sum * 1000) / Math.min(WINDOW, at - began)
    },
    /** Call it after a pause, which would otherwise lower the rate. */
    restart() {
      began = undefined
      steps = []
    },
  }
}
