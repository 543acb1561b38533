/**
 * Upgrades from every released version: builds its sources with its own libraries, replaces three of
 * its processes one by one by today's under load, and back again; then has today's take over its
 * data.
 *
 *     npm run test:upgrades
 *     npm run test:upgrades -- v0.1.0    only from this tag or commit
 *
 * Releases are the tags; a version of CHANGELOG.md without one is the commit that named it. It needs
 * the history of the repository, and the npm registry.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

const root = resolve(import.meta.dirname, "..")
const vitest = join(root, "node_modules/vitest/vitest.mjs")
const TESTS = ["tests/process/rolling-restart.test.ts", "tests/process/quiet-upgrade.test.ts"]

/** Before the first release, the commit that ran at operators'. */
const BEFORE_RELEASES = "c39d736220e5c832f90e179152c1d9a1564a17f8"

const chosen = process.argv.slice(2)
const results = (chosen.length > 0 ? chosen : findReleases()).map((release) => ({
  release,
  succeeded: upgradeFrom(release),
}))
for (const { release, succeeded } of results)
  process.stdout.write(`${succeeded ? "ok    " : "FAILED"}  from ${describe(release)}\n`)
if (results.some(({ succeeded }) => !succeeded)) process.exitCode = 1

function findReleases(): string[] {
  const tags = git("tag", "--list", "v*", "--sort=version:refname").split("\n").filter(Boolean)
  const headings = [...readFileSync(join(root, "CHANGELOG.md"), "utf8").matchAll(/^## (\d\S*?),? .*$/gm)]
  const untagged = headings.filter(([, version]) => !tags.includes(`v${version}`)).toReversed()
  return [BEFORE_RELEASES, ...untagged.map(([heading]) => findCut(heading)), ...tags]
}

/** The commit that wrote the heading into CHANGELOG.md. */
function findCut(heading: string): string {
  const [commit] = git("log", `-S${heading}`, "--format=%H", "--reverse", "--", "CHANGELOG.md").split("\n")
  if (commit) return commit
  throw new Error(
    `The history does not have the commit that wrote "${heading}". Fetch more of it: git fetch --unshallow`,
  )
}

function upgradeFrom(release: string): boolean {
  const folder = mkdtempSync(join(tmpdir(), "tideline-release-"))
  try {
    process.stdout.write(`From ${describe(release)} to today's, process by process, and back:\n`)
    const sources = execFileSync("git", ["archive", release], { cwd: root, maxBuffer: 2 ** 30 })
    execFileSync("tar", ["-x", "-C", folder], { input: sources })
    return (
      run(folder, "npm", ["ci", "--no-audit", "--no-fund"]) &&
      run(folder, process.execPath, [join(folder, "server/commands/build.ts")]) &&
      run(root, process.execPath, [vitest, "run", ...TESTS], { OLDER_SOURCES: folder, TESTS: "all" })
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs a program, and returns whether it succeeded. */
function run(cwd: string, program: string, words: string[], env: Record<string, string> = {}): boolean {
  return spawnSync(program, words, { cwd, env: { ...process.env, ...env }, stdio: "inherit" }).status === 0
}

function describe(release: string): string {
  return git("log", "-1", "--format=%h of %cs (%s)", release)
}

function git(...words: string[]): string {
  return execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim()
}
