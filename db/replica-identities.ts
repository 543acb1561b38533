import type { LiveTable } from "./schema/live-table.ts"

type Identified = Pick<LiveTable<object>, "identityIndex" | "name" | "schema">

/** The statements that make each table's index its replica identity, where the migrations do not end with it. */
export function changedIdentities(tables: readonly Identified[], migrations: readonly string[]): string[] {
  const newest = new Map<string, string>()
  for (const [, table = "", index = ""] of migrations
    .join("\n")
    .matchAll(/ALTER TABLE ("[^ ]+") REPLICA IDENTITY USING INDEX "(\w+)"/g))
    newest.set(table, index)
  return tables
    .map(({ schema, name, identityIndex }) => ({
      table: schema === "public" ? `"${name}"` : `"${schema}"."${name}"`,
      identityIndex,
    }))
    .filter(({ table, identityIndex }) => newest.get(table) !== identityIndex)
    .map(
      ({ table, identityIndex }) => `ALTER TABLE ${table} REPLICA IDENTITY USING INDEX "${identityIndex}";`,
    )
}

/** All tables that the modules of `db/schema` declare as live. */
export function liveTablesIn(modules: readonly object[]): Identified[] {
  return modules.flatMap((module) => Object.values(module).filter(isLiveTable))
}

function isLiveTable(value: unknown): value is Identified {
  return typeof value === "object" && value !== null && "identityIndex" in value
}
