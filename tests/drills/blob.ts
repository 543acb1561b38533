import { rmSync } from "node:fs"
import { join } from "node:path"
import postgres from "postgres"
import { createFaults, timed, type Drill } from "./drill.ts"
import { describe, differences, inInstallation } from "./installation.ts"

export const loseBlob: Drill = {
  name: "blob",
  loss: "the bytes of a file",
  run: () =>
    inInstallation(async (installation, { key, files: [file = ""] }) => {
      const { faults, expect } = createFaults()
      const backup = await installation.command("backup", installation.backups)
      expect(backup.code === 0, backup.output)
      const before = await installation.state({ key })
      const sql = postgres(installation.databaseUrl(), { max: 1 })
      const [row] = await sql<{ key: string }[]>`
      select key from blobs join files on storage_id = blobs._id where files._id = ${file}`
      await sql.end()
      rmSync(join(installation.dataDir, "blobs", row?.key ?? ""))
      const headers = { authorization: `Bearer ${key}` }
      const seen = await describe(await fetch(`${installation.origin}/api/files/${file}`, { headers }))
      expect(seen.includes("operator"), `People are not told whose turn it is: ${seen}.`)
      const check = await installation.command("files", "check")
      expect(check.code === 1 && check.output.includes("missing"), `The check says ${check.output}`)
      const warnings = installation.warnings()
      expect(warnings.length > 0, "The log says nothing.")
      const told = [
        ...warnings,
        `npm run files -- check: ${check.output.split("\n", 1)[0]?.replaceAll(/ +/g, " ")}`,
      ]

      const milliseconds = await timed(async () => {
        const restored = await installation.command("files", "repair", "--from", installation.backups)
        expect(restored.code === 0, restored.output)
      })
      const changed = differences(before, await installation.state({ key }))
      expect(changed.length === 0, `These differ: ${changed.join(", ")}.`)
      return {
        seen: [seen],
        told,
        back: "npm run files -- repair --from <backups>",
        milliseconds,
        lost: "nothing",
        faults,
      }
    }),
}
