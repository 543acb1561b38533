/** Milliseconds that are looked back on. */
const WINDOW = 5000

export type TransferRate = ReturnType<typeof createTransferRate>

/** How fast bytes leave, over the last seconds. Moments are milliseconds. */
export function createTransferRate() {
  let began: number | undefined
  let steps: { at: number; bytes: number }[] = []

  return {
    add(bytes: number, at: number) {
      began ??= at
      steps.push({ at, bytes })
      if ((steps[0]?.at ?? at) < at - 2 * WINDOW) steps = steps.filter((step) => step.at >= at - WINDOW)
    },
    /** Null for the first moment, which would say little. */
    perSecond(at: number): number | null {
      if (began === undefined || at - began < 800) return null
      const sum = steps.reduce((total, step) => (step.at >= at - WINDOW ? total + step.bytes : total), 0)
      return (sum * 1000) / Math.min(WINDOW, at - began)
    },
    /** After a rest: it would count as slowness. */
    restart() {
      began = undefined
      steps = []
    },
  }
}
