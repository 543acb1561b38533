import type { Identified } from "./schema/live-table.ts"

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
