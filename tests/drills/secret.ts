import { copyFileSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createFaults, timed, type Drill } from "./drill.ts"
import { describe, differences, inInstallation, signInAgain } from "./installation.ts"

export const loseSecret: Drill = {
  name: "secret",
  loss: "AUTH_SECRET",
  run: () =>
    inInstallation(async (installation, resident) => {
      const { person, key } = resident
      const { faults, expect } = createFaults()
      const settings = join(installation.folder, ".env")
      const copy = join(installation.folder, "env-kept-elsewhere")
      copyFileSync(settings, copy)
      const before = await installation.state({ key })
      await installation.end("SIGTERM")
      writeFileSync(settings, readFileSync(copy, "utf8").replace(/^AUTH_SECRET=.*$/m, "AUTH_SECRET="))
      const refused = await installation.startInVain({})
      const [sentence = ""] = /AUTH_SECRET is missing[^\n]*/.exec(refused) ?? []
      expect(sentence !== "", `The start says ${refused}`)

      // Somebody in a hurry makes another one.
      const other = { AUTH_SECRET: "a secret that nobody had before, made in a hurry" }
      await installation.start(other)
      const session = await person("/api/files")
      expect(session.status === 401, `A session of another secret is answered with ${session.status}.`)
      const factor = await signInAgain(installation, resident)
      const seen = [`session: ${await describe(session)}`, `authenticator: ${await describe(factor)}`]
      expect(factor.status < 500, `A code of an authenticator is answered with ${seen[1]}.`)
      const told = [`start: ${sentence}`, ...installation.warnings()]
      await installation.end("SIGTERM")

      const milliseconds = await timed(async () => {
        copyFileSync(copy, settings)
        await installation.start()
        await installation.whenServing()
      })
      expect((await person("/api/files")).status === 200, "The old session is not valid with the old secret.")
      const changed = differences(before, await installation.state({ key }))
      expect(changed.length === 0, `These differ: ${changed.join(", ")}.`)
      return {
        seen,
        told,
        back: "put the copy of .env back, and start (docs/backup.md)",
        milliseconds,
        lost: "nothing; without a copy: sessions and authenticators",
        faults,
      }
    }),
}
