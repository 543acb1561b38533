import { renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { postJson } from "../support/people.ts"
import { createFaults, timed, type Drill } from "./drill.ts"
import { describe, differences, inInstallation, until } from "./installation.ts"

export const killDatabase: Drill = {
  name: "database killed",
  loss: "PostgreSQL, by SIGKILL",
  run: () =>
    inInstallation(async (installation, { person, key }) => {
      const { faults, expect } = createFaults()
      const before = await installation.state({ key })
      process.kill(installation.postmaster(), "SIGKILL")
      let seen = ""
      const milliseconds = await timed(async () => {
        await until(async () => {
          const response = await person("/api/files")
          if (response.status !== 200) seen = await describe(response)
          return response.status === 200 && seen !== ""
        })
        await installation.whenServing()
      })
      expect(seen.startsWith("503"), `People saw ${seen}.`)
      const told = installation.warnings()
      expect(
        told.some((line) => line.includes("PostgreSQL ended unexpectedly")),
        "The log does not say that PostgreSQL ended.",
      )
      expect(
        differences(before, await installation.state({ key })).length === 0,
        "Something acknowledged is gone.",
      )
      return {
        seen: [seen],
        told,
        back: "Tideline starts its PostgreSQL again",
        milliseconds,
        lost: "nothing",
        faults,
      }
    }),
}

export const loseDatabase: Drill = {
  name: "database lost",
  loss: "PostgreSQL with its folder",
  run: () =>
    inInstallation(async (installation, { person, key, files }) => {
      const { faults, expect } = createFaults()
      const backup = await installation.command("backup", installation.backups)
      expect(backup.code === 0, backup.output)
      const before = await installation.state({ key })
      await postJson(person, "/api/chat/threads", { title: "Made after the backup" })
      process.kill(installation.postmaster(), "SIGKILL")
      rmSync(join(installation.dataDir, "postgres/data"), { recursive: true, force: true })
      await until(async () => (await installation.readiness()).startsWith("/readyz 503"))
      const seen = [
        `page: ${await describe(await person("/dashboard"))}`,
        `API: ${await describe(await person("/api/files"))}`,
      ]
      for (const each of seen) expect(each.includes(" 503 "), `People saw ${each}.`)
      const isMissing = (await installation.metric("tideline_outbox_oldest_seconds")) === null
      expect(isMissing, "TidelineDatabaseAway does not fire.")
      const told = [await installation.readiness(), "alert: TidelineDatabaseAway", ...installation.warnings()]
      expect(
        told.some((line) => line.includes("PostgreSQL")),
        "The log does not name PostgreSQL.",
      )

      const milliseconds = await timed(async () => {
        await installation.end("SIGTERM")
        renameSync(installation.dataDir, `${installation.dataDir}.before`)
        const restored = await installation.command("restore", installation.backups)
        expect(restored.code === 0, restored.output)
        await installation.start()
        await installation.whenServing()
      })
      const changed = differences(before, await installation.state({ key }))
      expect(changed.length === 0, `After the restore, these differ: ${changed.join(", ")}.`)
      expect(files.length === 3, "There were no files to compare.")
      rmSync(`${installation.dataDir}.before`, { recursive: true, force: true })
      const signedOut = await person("/api/files")
      expect(signedOut.status === 401, "A session of before the restore is still valid.")
      return {
        seen,
        told,
        back: "mv .data .data.before; npm run restore; npm start (docs/backup.md)",
        milliseconds,
        lost: "changes since the backup, sessions",
        faults,
      }
    }),
}
