import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { changedIdentities } from "./replica-identities.ts"
import { changedRules, readRules } from "./rules.ts"
import { liveTables } from "./schema/live-table.ts"
import "./ownerships.ts"

const MIGRATIONS = join(import.meta.dirname, "migrations")
const META = join(MIGRATIONS, "meta")

/**
 * `npm run db:generate -- --name <name>` writes one migration: what changed in `db/schema`, by
 * drizzle-kit, and after it the replica identities of live tables and the rules of `db/rules` that
 * changed.
 */
async function generate(options: string[]): Promise<void> {
  const before = migrations()
  const texts = before.map(textOf)
  draw(options)
  forgetOlderSnapshots()
  const own = [...changedIdentities([...liveTables.keys()], texts), ...changedRules(readRules(), texts)]
  if (own.length === 0) return
  const hasDrawn = migrations().length > before.length
  if (!hasDrawn) {
    draw([...options, "--custom"])
    forgetOlderSnapshots()
  }
  const file = join(MIGRATIONS, migrations().at(-1) ?? "")
  const parts = hasDrawn ? [readFileSync(file, "utf8"), ...own] : own
  writeFileSync(file, parts.map((part) => `${part.trim()}\n`).join("--> statement-breakpoint\n"))
  console.log(`${file}: ${own.length} statements besides those of drizzle-kit`)
}

function draw(options: string[]): void {
  const { status } = spawnSync("drizzle-kit", ["generate", ...options], { stdio: "inherit" })
  if (status !== 0) process.exit(status ?? 1)
}

/** The next migration is made from the newest snapshot alone. */
function forgetOlderSnapshots(): void {
  const snapshots = readdirSync(META).filter((name) => name.endsWith("_snapshot.json"))
  for (const name of snapshots.toSorted().slice(0, -1)) rmSync(join(META, name))
}

function migrations(): string[] {
  return readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith(".sql"))
    .toSorted()
}

function textOf(name: string): string {
  return readFileSync(join(MIGRATIONS, name), "utf8")
}

await generate(process.argv.slice(2))
