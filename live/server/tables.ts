import type { Table } from "./live-query.ts"

/**
 * A row as text, in the order of its table's described columns: the form in which snapshots and the
 * log agree. `undefined` is a value that was not transmitted: a large one that the update did not
 * change.
 */
export type Tuple = readonly (string | null | undefined)[]

/** A described table with its columns by number. */
export interface WatchedTable {
  readonly description: Table
  /** Qualified and quoted. */
  readonly sqlName: string
  readonly fields: readonly string[]
  readonly columns: readonly string[]
  readonly decoders: readonly ((text: string) => unknown)[]
  readonly position: ReadonlyMap<string, number>
  readonly key: number
  /** A row of which nothing was transmitted. */
  readonly blank: Tuple
  /**
   * The key and the columns of the replica identity, which are known for every row that an update
   * or delete removes from a place.
   */
  readonly identity: ReadonlySet<number>
  /**
   * PostgreSQL's type of each column, and whether it may be null: read from the catalog when the
   * engine opens.
   */
  readonly types: string[]
  readonly oids: number[]
  readonly nullable: boolean[]
}

/**
 * `old` is present when the row leaves a place: on delete, and when an update changes the replica
 * identity.
 */
export interface RowChange {
  readonly table: WatchedTable
  readonly inserted: boolean
  readonly old: Tuple | null
  readonly row: Tuple | null
}

export function watchTable(description: Table): WatchedTable {
  const fields = Object.keys(description.columns)
  const columns = Object.values(description.columns)
  const position = new Map(fields.map((field, index) => [field, index]))
  const key = position.get("_id")
  if (key === undefined) throw new Error(`The table ${description.name} is described without its key, _id.`)
  const identity = description.identity.map((field) => {
    const index = position.get(field)
    if (index === undefined) {
      throw new Error(`The replica identity of ${description.name} names ${field}, which is not described.`)
    }
    return index
  })
  return {
    description,
    sqlName: `${quote(description.schema)}.${quote(description.name)}`,
    fields,
    columns: columns.map((column) => column.name),
    decoders: columns.map((column) => (text) => column.decode(text)),
    position,
    key,
    blank: columns.map(() => undefined),
    identity: new Set([key, ...identity]),
    types: [],
    oids: [],
    nullable: [],
  }
}

export function quote(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`
}

/** Overwrites `under` with the transmitted values of `over`. */
export function overlay(under: Tuple, over: Tuple): Tuple {
  return over.map((value, index) => (value === undefined ? under[index] : value))
}
