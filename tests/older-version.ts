/**
 * Whether a program that is one migration older works on today's schema: takes the sources from
 * before the newest migration out of the history, replaces its processes one by one by today's
 * under load, and those by its own again; has today's take over from it, where nothing is written
 * in the meantime; then gives it today's migrations, and runs its own tests.
 *
 *     npm run test:older
 *     npm run test:older -- tests/domain/files.test.ts    only these of its tests
 *
 * It needs the history of the repository (a shallow clone has none), and runs the older sources
 * with the libraries of today.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

const root = resolve(import.meta.dirname, "..")
const chosen = process.argv.slice(2)

const commit = findOlder(newestMigration())
const vitest = join(root, "node_modules/vitest/vitest.mjs")
const folder = mkdtempSync(join(tmpdir(), "tideline-older-"))
try {
  const sources = execFileSync("git", ["archive", commit], { cwd: root, maxBuffer: 2 ** 30 })
  execFileSync("tar", ["-x", "-C", folder], { input: sources })
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  const name = git("log", "-1", "--format=%h of %cs", commit)
  let succeeded = true
  if (chosen.length === 0) {
    process.stdout.write(`From ${name} to today's, process by process, and back:\n`)
    succeeded =
      run(folder, join(folder, "server/commands/build.ts")) &&
      run(root, vitest, "run", "tests/process/rolling-restart.test.ts", "tests/process/quiet-upgrade.test.ts")
  }
  cpSync(join(root, "db/migrations"), join(folder, "db/migrations"), { recursive: true })
  process.stdout.write(`The tests of ${name} on the schema of today:\n`)
  const tests = chosen.length > 0 ? chosen : ["tests/domain", "tests/http"]
  succeeded = run(folder, vitest, "run", ...tests) && succeeded
  process.exitCode = succeeded ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Runs a program of Node, and answers whether it succeeded. */
function run(cwd: string, ...words: string[]): boolean {
  // Today's tests run both versions; its own tests know of no other.
  const older = cwd === root ? { OLDER_SOURCES: folder } : {}
  const env = { ...process.env, ...older, TESTS: "all" }
  return spawnSync(process.execPath, words, { cwd, env, stdio: "inherit" }).status === 0
}

/** The path of its file. */
function newestMigration(): string {
  const journal = JSON.parse(readFileSync(join(root, "db/migrations/meta/_journal.json"), "utf8")) as {
    entries: { tag: string }[]
  }
  return `db/migrations/${journal.entries.at(-1)?.tag}.sql`
}

/** The last commit without that migration; today's, as long as it is not committed. */
function findOlder(migration: string): string {
  const added = git("log", "--diff-filter=A", "-1", "--format=%H", "--", migration)
  if (!added) return "HEAD"
  try {
    return git("rev-parse", "--verify", "--quiet", `${added}^`)
  } catch {
    process.stderr.write(
      `The history ends where ${migration} came. Fetch more of it: git fetch --unshallow\n`,
    )
    process.exit(1)
  }
}

function git(...words: string[]): string {
  return execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim()
}
