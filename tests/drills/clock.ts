import { resolve } from "node:path"
import { createFaults, timed, type Drill } from "./drill.ts"
import { describe, differences, inInstallation, signInAgain } from "./installation.ts"

const preload = resolve(import.meta.dirname, "shifted-clock.cjs")

/** Of the process alone. PostgreSQL, the commands and the system keep their time. */
export const loseClock: Drill = {
  name: "clock",
  loss: "the time: the process is an hour ahead",
  run: () =>
    inInstallation(async (installation, resident) => {
      const { person, key } = resident
      const { faults, expect } = createFaults()
      const before = await installation.state({ key })
      await installation.end("SIGTERM")
      const ahead = { NODE_OPTIONS: `--require ${preload}`, CLOCK_SHIFT: String(60 * 60 * 1000) }
      await installation.start(ahead)
      const session = await person("/api/files")
      expect(session.status === 200, `A session is answered with ${session.status}.`)
      const factor = await signInAgain(installation, resident)
      expect(factor.status === 401 || factor.status === 400, `A code is answered with ${factor.status}.`)
      const seen = [`session: ${session.status}`, `code of an authenticator: ${await describe(factor)}`]
      const told = installation.warnings()
      expect(
        told.some((line) => line.includes("clock")),
        "The log does not say that the clocks differ.",
      )
      await installation.end("SIGTERM")

      const milliseconds = await timed(async () => {
        await installation.start()
        await installation.whenServing()
      })
      const changed = differences(before, await installation.state({ key }))
      expect(changed.length === 0, `These differ: ${changed.join(", ")}.`)
      return {
        seen,
        told,
        back: "correct the clock (NTP)",
        milliseconds,
        lost: "nothing",
        faults,
      }
    }),
}
