import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { runBuiltCommand } from "../support/commands.ts"
import { createTestDatabase } from "../support/postgres.ts"

const key = "ab/cd/abcd0000-0000-4000-8000-000000000000"

let folder: string
let database: Awaited<ReturnType<typeof createTestDatabase>>
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "files-command-"))
  database = await createTestDatabase()
})
afterAll(async () => {
  await database.close()
  rmSync(folder, { recursive: true })
})

it("npm run files -- repair removes nothing from a store if the database knows no file", async () => {
  const bytes = join(folder, "blobs", key)
  mkdirSync(dirname(bytes), { recursive: true })
  writeFileSync(bytes, "somebody's")
  const { code, output } = await run("repair")
  expect(output).toContain("The database knows no file at all, and the store holds some")
  expect(code).toBe(1)
  expect(readFileSync(bytes, "utf8")).toBe("somebody's")
})

function run(command: string): Promise<{ code: number; output: string }> {
  const env = { DATABASE_URL: database.url, DATA_DIR: folder }
  return runBuiltCommand("files", [command], { folder, env })
}
