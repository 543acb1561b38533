import { readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import postgres from "postgres"
import { describe, expect, it, onTestFinished } from "vitest"
import { changedIdentities } from "#db/replica-identities.ts"
import "#db/ownerships.ts"
import { changedRules, readRules } from "#db/rules.ts"
import * as devices from "#db/schema/devices.ts"
import { liveTable, liveTables } from "#db/schema/live-table.ts"
import { createTestDatabase } from "../support/postgres.ts"

const root = resolve(import.meta.dirname, "../..")
const rules = readRules()
const migrations = textsIn("db/migrations", ".sql")

describe("the rules in db/rules", () => {
  it("are those of a migrated database, and no others", async () => {
    const { url, close } = await createTestDatabase()
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    onTestFinished(async () => {
      await sql.end()
      await close()
    })
    const before = await readDatabase(sql)
    const names = new Set(Object.keys(before).map((name) => name.split(" ", 1).join()))
    expect([...names].toSorted()).toEqual(rules.map(({ name }) => name))
    const after = await sql.begin(async (tx) => {
      for (const statement of changedRules(rules, [])) await tx.unsafe(statement)
      return readDatabase(tx)
    })
    expect(after).toEqual(before)
    const triggers = Object.keys(before).filter((name) => name.includes(" "))
    expect(triggers).toHaveLength(
      statementsOf(rules).filter((text) => text.includes("CREATE OR REPLACE TRIGGER")).length,
    )
  })

  it("are all in the migrations", () => {
    expect(changedRules(rules, migrations)).toEqual([])
  })

  it.each(rules.map(({ name }) => name))(
    "%s is named by the code that relies on it, and says what it keeps",
    (name) => {
      const named = new RegExp(`^\\s*(/?\\*|//).*\`${name}\``, "m")
      const relying = [...textsIn("server", ".ts"), ...textsIn("db/schema", ".ts")].filter((text) =>
        named.test(text),
      )
      expect(relying.length).toBeGreaterThan(0)
      expect(readFileSync(join(root, `db/rules/${name}.sql`), "utf8")).toMatch(/^-- [A-Z`]/)
    },
  )
})

describe("the replica identities of live tables", () => {
  it("are all in the migrations", () => {
    expect(liveTables.size).toBeGreaterThan(10)
    expect(changedIdentities([...liveTables.keys()], migrations)).toEqual([])
  })

  it("are written for a new table, and for another index", () => {
    const [first] = liveTables.keys()
    const other = { ...first!, identityIndex: "users_live_in_space" }
    const added = { schema: "public", name: "planted", identityIndex: "planted_live" }
    expect(changedIdentities([other, added], migrations)).toEqual([
      `ALTER TABLE "${first?.name}" REPLICA IDENTITY USING INDEX "users_live_in_space";`,
      'ALTER TABLE "planted" REPLICA IDENTITY USING INDEX "planted_live";',
    ])
  })

  it("need an index, which the error names", () => {
    expect(() => liveTable(devices.devices, { keys: ["label"], of: "nobody" })).toThrow(
      'For its live queries the table devices needs this index: uniqueIndex("devices_live").on(table.label, table._id)',
    )
  })
})

describe("a migration", () => {
  const name = "set_file_name_key"
  const rule = rules.find((one) => one.name === name)!

  it("gets the function of a rule that changed, and the trigger", () => {
    const [body = "", trigger = ""] = rule.statements
    const changed = [body.replace("NEW.", "new."), trigger.replace("INSERT OR UPDATE", "UPDATE")]
    expect(changedRules([{ name, statements: changed }], migrations)).toEqual(changed)
  })

  it("gets a new rule, the functions first", () => {
    const added = [
      'CREATE OR REPLACE TRIGGER "b" AFTER INSERT ON "files" EXECUTE FUNCTION "a"();',
      'CREATE OR REPLACE FUNCTION "a"() RETURNS trigger AS $$ $$;',
    ]
    expect(changedRules([{ name: "a", statements: added }], migrations)).toEqual(added.toReversed())
  })

  it("gets nothing for another comment or other spaces", () => {
    const statements = rule.statements.map((text) => `-- Another comment.\n${text.replaceAll("\t", "    ")}`)
    expect(changedRules([{ name, statements }], migrations)).toEqual([])
  })
})

function statementsOf(all: typeof rules): string[] {
  return all.flatMap(({ statements }) => statements)
}

/** The definitions of our functions, by name, and of the triggers that call them, by both names. */
async function readDatabase(sql: postgres.ISql): Promise<Record<string, string>> {
  const rows = await sql<{ name: string; text: string }[]>`
    select proname as name, pg_get_functiondef(pg_proc.oid) as text
    from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
    where nspname in ('public', 'auth')
      and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e')
    union all
    select proname || ' ' || tgrelid::regclass || ' ' || tgname, pg_get_triggerdef(pg_trigger.oid)
    from pg_trigger join pg_proc on pg_proc.oid = tgfoid
    where not tgisinternal`
  return Object.fromEntries(rows.map(({ name, text }) => [name, text]))
}

function textsIn(folder: string, end: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(end))
    .toSorted()
    .map((name) => readFileSync(join(root, folder, name), "utf8"))
}
