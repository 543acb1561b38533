import { execFileSync, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { expect, it } from "vitest"

const root = resolve(import.meta.dirname, "../..")
const { version } = JSON.parse(readFileSync(resolve(root, "package.json"), "utf8")) as { version: string }
const notes = (tag: string) => [resolve(root, "ops/release.ts"), "notes", tag]

it("the notes of a release are its section of CHANGELOG.md, without the heading", () => {
  const printed = execFileSync(process.execPath, notes(`v${version}`), { encoding: "utf8" })
  const changes = readFileSync(resolve(root, "CHANGELOG.md"), "utf8")
  expect(printed.length).toBeGreaterThan(10)
  expect(printed).not.toMatch(/^## /m)
  expect(changes).toContain(printed)
  expect(changes.slice(0, changes.indexOf(printed))).toMatch(
    new RegExp(`\\n## ${version}(, [\\d-]+)?\\n\\n$`),
  )
})

it("a tag of another version is refused", () => {
  const { status, stderr } = spawnSync(process.execPath, notes("v99.0.0"), { encoding: "utf8" })
  expect(status).toBe(1)
  expect(stderr).toContain(`The tag is v99.0.0, and package.json has ${version}.`)
})
