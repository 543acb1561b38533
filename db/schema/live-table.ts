import {
  getTableColumns,
  getTableName,
  type Column as DrizzleColumn,
  type InferSelectModel,
  type Table,
} from "drizzle-orm"
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core"
import * as v from "valibot"
import { owned, type WhoseRow } from "./ownership.ts"

/** A table whose rows pages can watch, as the realtime layer takes it. */
export interface LiveTable<Row> {
  readonly schema: string
  readonly name: string
  readonly identity: readonly (keyof Row & string)[]
  /** The name of the unique index over `identity` and `_id`. */
  readonly identityIndex: string
  readonly columns: { readonly [Field in keyof Row]-?: Column<Row[Field]> }
  readonly types?: { row: Row }
}

/** How a column's text in the log becomes a value, and the value's schema for the documents. */
interface Column<Value = unknown> {
  readonly name: string
  decode(text: string): Value
  readonly schema?: v.GenericSchema
}

/** What is said of a field whose name does not say everything: a sentence, or the schema of its JSON. */
type Described<Row> = {
  [Field in keyof Row]?: string | v.GenericSchema<unknown, NonNullable<Row[Field]>>
}

/** Of the columns that every record has. */
const SENTENCES: Readonly<Record<string, string>> = {
  _id: "Version 7 UUID: ids sort in the order in which their records were created.",
  _creation_time: "Milliseconds since the epoch.",
}

/** What is declared of a live table. */
type DeclaredLive<Watched extends PgTable, Row = InferSelectModel<Watched>> = {
  /**
   * The fields that a range can compare: with `_id` they are a unique index, which is the table's
   * replica identity. `npm run db:generate` writes that into the migration.
   */
  keys: readonly (keyof Row & string)[]
  sentences?: Described<Row>
} & (WhoseRow<Watched> | { of: "nobody" | "space" })

/** Filled by the modules of the schema, as `ownerships` is. */
export const liveTables = new Map<Identified, PgTable>()

export type Identified = Pick<LiveTable<object>, "identityIndex" | "name" | "schema">

/** Declares that live queries may read a table. */
export function liveTable<Watched extends PgTable>(
  table: Watched,
  { keys, sentences = {}, ...whose }: DeclaredLive<Watched>,
): LiveTable<InferSelectModel<Watched> & { _id: string }> {
  if (whose.of !== "nobody" && whose.of !== "space") owned(table, whose as WhoseRow<Watched>)
  const columns = Object.fromEntries(
    Object.entries(getTableColumns(table as Table)).map(([field, column]): [string, Column] => [
      field,
      {
        name: column.name,
        // The log contains only text. Drizzle leaves this one conversion to the driver.
        decode: (text) => (column.dataType === "boolean" ? text === "t" : column.mapFromDriverValue(text)),
        ...schemaOf(column, (sentences as Record<string, string | v.GenericSchema>)[field]),
      },
    ]),
  )
  const description = {
    schema: getTableConfig(table).schema ?? "public",
    name: getTableName(table),
    identity: keys,
    identityIndex: findIndex(table, [...keys, "_id"]),
    columns,
  }
  liveTables.set(description, table)
  // Field by field these are the table's own columns, which no type can follow through
  // `fromEntries`.
  return description as unknown as LiveTable<InferSelectModel<Watched> & { _id: string }>
}

/** The table that a live query reads. */
export function sourceOf(description: Pick<LiveTable<unknown>, "name">): PgTable {
  const source = liveTables.get(description as Identified)
  if (!source) throw new Error(`The table ${description.name} is not declared with liveTable.`)
  return source
}

function findIndex(table: PgTable, fields: readonly string[]): string {
  const columns = getTableColumns(table as Table)
  const wanted = new Set(fields.map((field) => columns[field]?.name))
  const found = getTableConfig(table).indexes.find(({ config: { unique, where, columns: indexed } }) => {
    const fits = indexed.every((column) => "name" in column && wanted.has(column.name))
    return unique && !where && fits && indexed.length === wanted.size
  })
  if (found?.config.name) return found.config.name
  const name = getTableName(table)
  const index = `uniqueIndex("${name}_live").on(${fields.map((field) => `table.${field}`).join(", ")})`
  throw new Error(`For its live queries the table ${name} needs this index: ${index}`)
}

/** Undefined for a JSON column without a schema: live queries that send it are refused. */
function schemaOf(column: DrizzleColumn, about?: string | v.GenericSchema): { schema?: v.GenericSchema } {
  const value = typeof about === "object" ? about : valueSchema(column)
  if (!value) return {}
  const schema: v.GenericSchema = column.notNull ? value : v.nullable(value)
  const sentence = typeof about === "string" ? about : SENTENCES[column.name]
  return { schema: sentence === undefined ? schema : v.pipe(schema, v.description(sentence)) }
}

function valueSchema({ dataType, enumValues, columnType }: DrizzleColumn): v.GenericSchema | null {
  if (enumValues && enumValues.length > 0) return v.picklist(enumValues)
  if (columnType === "PgUUID") return v.pipe(v.string(), v.uuid())
  if (dataType === "string") return v.string()
  if (dataType === "number") return v.pipe(v.number(), v.integer())
  return dataType === "boolean" ? v.boolean() : null
}
