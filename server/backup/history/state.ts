import { readFile, rename, writeFile } from "node:fs/promises"
import * as v from "valibot"
import { createFailureLog, type Log } from "#server/log.ts"
import { startRecurring } from "#server/recurring.ts"
import type { History } from "./keep-history.ts"

// What the container that keeps the history tells the processes, which cannot read its archive.

const Time = v.pipe(v.number(), v.minValue(0))
const State = v.object({ at: Time, behind: Time, since: Time })

/** Milliseconds. */
const BETWEEN_LOOKS = 60_000
const STALE = 3 * 60_000

/** As those of a `History`. */
export async function writeState(path: string, state: { behind: number; since: number }): Promise<void> {
  // Readable for the account of the processes.
  await writeFile(`${path}.new`, JSON.stringify({ at: Date.now(), ...state }), { mode: 0o644 })
  await rename(`${path}.new`, path)
}

/** The state of a history, as it was last written; null if it cannot be read. */
export async function readState(path: string): Promise<v.InferOutput<typeof State> | null> {
  const text = await readFile(path, "utf8").catch(() => null)
  const state = text === null ? null : v.safeParse(v.pipe(v.string(), v.parseJson(), State), text)
  return state?.success ? state.output : null
}

/** The history that another container keeps. */
export function followHistory({ log }: { log: Log }, path: string): History {
  const failures = createFailureLog(log, "the history is kept again")
  const begun = Date.now()
  let state: v.InferOutput<typeof State> | null = null
  const behind = () => {
    const last = state?.at ?? begun
    return Date.now() - last > STALE ? Date.now() - last : (state?.behind ?? 0)
  }
  const recurring = startRecurring(async () => {
    state = (await readState(path)) ?? state
    if (behind() === 0) failures.succeeded()
    else
      failures.failed("error", new Error("See the log of its container."), "the history is not kept", {
        path,
      })
  }, BETWEEN_LOOKS)
  return { behind, since: () => state?.since ?? 0, stop: () => recurring.stop() }
}
