import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { changedRules, readRules } from "./rules.ts"

const MIGRATIONS = join(import.meta.dirname, "migrations")

/**
 * `npm run db:generate -- --name <name>` writes one migration: what changed in `db/schema`, by
 * drizzle-kit, and after it the rules of `db/rules` that changed.
 */
function generate(options: string[]): void {
  const before = migrations()
  draw(options)
  const rules = changedRules(readRules(), before.map(textOf))
  if (rules.length === 0) return
  const hasDrawn = migrations().length > before.length
  if (!hasDrawn) draw([...options, "--custom"])
  const file = join(MIGRATIONS, migrations().at(-1) ?? "")
  const parts = hasDrawn ? [readFileSync(file, "utf8"), ...rules] : rules
  writeFileSync(file, parts.map((part) => `${part.trim()}\n`).join("--> statement-breakpoint\n"))
  console.log(`${file}: ${rules.length} statements of db/rules`)
}

function draw(options: string[]): void {
  const { status } = spawnSync("drizzle-kit", ["generate", ...options], { stdio: "inherit" })
  if (status !== 0) process.exit(status ?? 1)
}

function migrations(): string[] {
  return readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith(".sql"))
    .toSorted()
}

function textOf(name: string): string {
  return readFileSync(join(MIGRATIONS, name), "utf8")
}

generate(process.argv.slice(2))
