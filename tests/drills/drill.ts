/** One loss, and the documented way back from it. */
export interface Drill {
  name: string
  /** What is lost. */
  loss: string
  run(): Promise<Outcome>
}

export interface Outcome {
  /** What people see while it is lost. */
  seen: string[]
  /** What the operator is told: by the log, the metrics, `/readyz` and the doctor. */
  told: string[]
  /** The way back, as the documentation describes it. */
  back: string
  /** From the first step of the way back until everything works again. Milliseconds. */
  milliseconds: number
  /** What was not brought back, and could not be. */
  lost: string
  /** What should have been, and was not. */
  faults: string[]
}

/** Collects what was expected and did not happen. */
export function createFaults() {
  const faults: string[] = []
  return {
    faults,
    expect(holds: boolean, otherwise: string) {
      if (!holds) faults.push(otherwise)
    },
  }
}

export async function timed(act: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await act()
  return performance.now() - begun
}
