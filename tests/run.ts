import { spawnSync } from "node:child_process"
import { globSync, readdirSync, readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { resolve } from "node:path"

// `npm test` checks and tests everything. `npm test -- files` runs the tests of one domain: those
// that are named after it, and those that import it and are named after no other. Those that need the
// build are only named, unless there are no others. Options go on to vitest.

const NEED_THE_BUILD = /^tests\/(browser|http|process)\//

const root = resolve(import.meta.dirname, "..")
const words = process.argv.slice(2)
const domains = words.filter((word) => !word.startsWith("-"))
const options = words.filter((word) => word.startsWith("-"))

if (domains.length === 0) {
  // The tests need the build, and the checks leave a core idle towards their end.
  run("concurrently", "--group", "npm:check", "npm:build")
  run("vitest", "run", ...options)
} else {
  const files = [...new Set(domains.flatMap(findTests))]
  const quick = files.filter((path) => !NEED_THE_BUILD.test(path))
  const chosen = quick.length > 0 ? quick : files
  sayWhatIsLeftOut(files.filter((path) => !chosen.includes(path)))
  // A worker first imports half of the server, which takes longer than most of these files.
  run("vitest", "run", `--maxWorkers=${availableParallelism()}`, ...chosen, ...options)
}

function findTests(domain: string): string[] {
  const all = globSync("tests/{adapters,browser,domain,http,live,process,realtime}/**/*.test.{ts,tsx}", {
    cwd: root,
  })
  const others = new Set(readdirSync(resolve(root, "server")))
  const found = all.filter((path) => {
    // encrypted-backups is about the folder backup.
    const parts = path.split(/[/.-]/).slice(1)
    const names = parts.flatMap((part) => [part, part.replace(/s$/, "")])
    if (names.includes(domain)) return true
    if (names.slice(2).some((name) => others.has(name))) return false
    const text = readFileSync(resolve(root, path), "utf8")
    return [`"#server/${domain}/`, `"#app/features/${domain}/`].some((folder) => text.includes(folder))
  })
  if (found.length > 0) return found
  process.stderr.write(
    `No test is named after ${domain} or imports it. Name a folder of server/, as in: npm test -- files\n`,
  )
  process.exit(1)
}

function sayWhatIsLeftOut(left: readonly string[]) {
  const rest = left.length > 0 ? `; and those of the build: npx vitest run ${left.join(" ")}` : ""
  process.stdout.write(`Left out: npm run check${rest}\n`)
}

function run(command: string, ...args: string[]) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: "inherit" })
  if (status !== 0) process.exit(status ?? 1)
}
