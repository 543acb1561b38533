import { readdirSync } from "node:fs"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { is } from "drizzle-orm"
import { getTableConfig, PgTable, type PgColumn } from "drizzle-orm/pg-core"

const SCHEMA = resolve(import.meta.dirname, "../../db/schema")

/** The names of columns that hold somebody's id, user name or email address. */
const NAMES_SOMEBODY =
  /(^|_)(user|person|people|owner|member|author|account|operator|subject|actor|clerk|customer|reference|email|recipient|sender|identifier)(_|$)/

/** All tables that the schema's modules define. */
export async function allTables(): Promise<PgTable[]> {
  const modules: Record<string, unknown>[] = await Promise.all(
    readdirSync(SCHEMA).map((name) => import(pathToFileURL(join(SCHEMA, name)).href)),
  )
  return modules.flatMap((module) => Object.values(module)).filter((value) => is(value, PgTable))
}

/**
 * The qualified names of the tables that lead to a person: by a column with such a name, or by a
 * reference, direct or indirect, to a table that has one.
 */
export function findPersonalTables(tables: readonly PgTable[]): string[] {
  const personal = new Set(tables.filter((table) => columnsOf(table).some(isPersonal)))
  for (let known = -1; known < personal.size;) {
    known = personal.size
    for (const table of tables)
      if (referencesOf(table).some((target) => personal.has(target))) personal.add(table)
  }
  return [...personal].map(nameOf).toSorted()
}

function isPersonal({ name }: PgColumn) {
  return NAMES_SOMEBODY.test(name)
}

function columnsOf(table: PgTable) {
  return getTableConfig(table).columns
}

function referencesOf(table: PgTable) {
  return getTableConfig(table).foreignKeys.map((key) => key.reference().foreignTable)
}

export function nameOf(table: PgTable): string {
  const { schema = "public", name } = getTableConfig(table)
  return `${schema}.${name}`
}
