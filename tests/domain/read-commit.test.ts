import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { readCommit } from "#server/commands/read-commit.ts"

const COMMIT = "0123456789abcdef0123456789abcdef01234567"
const OTHER = "fedcba9876543210fedcba9876543210fedcba98"

describe("the commit of a build", () => {
  it("is that of the checked-out branch", () => {
    const folder = folderWith({ HEAD: "ref: refs/heads/main\n", "refs/heads/main": `${COMMIT}\n` })
    expect(readCommit(folder)).toBe(COMMIT)
  })

  it("is found among the packed refs of a fresh clone", () => {
    const packed = `# pack-refs with: peeled\n${OTHER} refs/heads/not/refs/heads/main\n${COMMIT} refs/heads/main\n`
    expect(readCommit(folderWith({ HEAD: "ref: refs/heads/main\n", "packed-refs": packed }))).toBe(COMMIT)
  })

  it("is found with a detached HEAD", () => {
    expect(readCommit(folderWith({ HEAD: `${COMMIT}\n` }))).toBe(COMMIT)
  })

  it("is unknown outside of a clone or before the first commit", () => {
    expect(readCommit(folderWith({}))).toBeNull()
    expect(readCommit(folderWith({ HEAD: "ref: refs/heads/main\n" }))).toBeNull()
  })
})

/** A folder with these files in its .git. */
function folderWith(files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), "tideline-commit-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, ".git", name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  return folder
}
