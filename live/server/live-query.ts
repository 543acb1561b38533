import * as v from "valibot"

import type { ErrorCode, LiveRow, MutationType, QueryType } from "../protocol/contract.ts"
import type { InputSchema } from "./unknown-field.ts"

/**
 * A column's name in PostgreSQL, and how its text form becomes a value. NULL becomes null without
 * it.
 */
export interface Column<Value = unknown> {
  readonly name: string
  decode(text: string): Value
  /** The value that clients receive, for the published document. */
  readonly schema?: v.GenericSchema
}

/**
 * A table that may be watched. Its replica identity must be a unique index over the columns of
 * `identity` and `_id`, so that an update or a delete names the range it left; every field that a
 * range compares must be among them.
 */
export interface TableDescription<Row extends LiveRow = LiveRow> {
  readonly schema: string
  readonly name: string
  readonly identity: readonly (keyof Row & string)[]
  readonly columns: { readonly [Field in keyof Row]-?: Column<Row[Field]> }
  readonly types?: { row: Row }
}

/** A table description without its row type, as the engine uses it. */
export interface Table {
  readonly schema: string
  readonly name: string
  readonly identity: readonly string[]
  readonly columns: Readonly<Record<string, Column>>
}

export type RangeValue = string | number | bigint | boolean

/** The rows whose fields equal `eq`. */
export interface RowRange<Row extends LiveRow = LiveRow> {
  readonly eq: { readonly [Field in keyof Row & string]?: RangeValue }
}

export interface FieldOrder<Field extends string = string> {
  readonly field: Field
  readonly direction: "asc" | "desc"
}

export interface Paging<Argument extends string = string> {
  /** The optional text argument that takes the `end` of the page before. */
  readonly argument: Argument
  /**
   * The page's last row at the first reading becomes its pinned end; later rows beyond it belong to
   * the next page.
   */
  readonly size: number
}

/** When a call is refused with a code besides the reasons that every call shares. */
export type Refusals = { readonly [Code in ErrorCode]?: string }

/** Rows whose change makes the engine call `authorize` again before it sends anything later. */
export interface Dependency {
  readonly table: Table
  readonly eq: Readonly<Record<string, RangeValue>>
  /** `leave`: only when a row gets or loses these values; not when its other fields change. */
  readonly on?: "change" | "leave"
}

/** Runs inside the read-only transaction that also reads the rows. */
export type SnapshotSql = (
  text: TemplateStringsArray,
  ...values: (string | number | boolean | null)[]
) => PromiseLike<readonly Record<string, unknown>[]>

interface LiveQueryDefinition<
  Name extends string,
  Schema extends InputSchema,
  Row extends LiveRow,
  Viewer,
  Field extends keyof Row & string,
  Out extends LiveRow,
> {
  name: Name
  /** For the authors of clients. */
  description: string
  args: Schema
  table: TableDescription<Row>
  order?: FieldOrder<keyof Row & string>
  /** Without it, clients receive all rows. */
  page?: Paging<keyof v.InferOutput<Schema> & string>
  /**
   * Which rows to read for the viewer. Rows of other users must not be in the range, or `authorize`
   * must refuse them.
   */
  range(args: v.InferOutput<Schema>, viewer: Viewer): RowRange<Row>
  authorize?(viewer: Viewer, args: v.InferOutput<Schema>, sql: SnapshotSql): Promise<boolean>
  /** With these arguments the range holds only rows that the viewer may see: nothing is asked. */
  isOwn?(args: v.InferOutput<Schema>): boolean
  dependencies?(args: v.InferOutput<Schema>, viewer: Viewer): readonly Dependency[]
  /** The fields that are read and sent; all of them unless named. */
  fields?: readonly Field[]
  /** Converts a row to what the client receives. Must be pure, and keep `_id`. */
  project?(row: Pick<Row, Field | "_id">): Out
  /**
   * The schema of what `project` returns. Without `project`, the table's columns describe the row.
   */
  row?: v.GenericSchema<unknown, Out>
  /** The result of a one-shot `query`: the list, or its first row or null. */
  answer?: "rows" | "row"
}

/** A declared live query, as the engine runs it. */
export interface LiveQuery<
  Viewer = unknown,
  Name extends string = string,
  Args = unknown,
  Row extends LiveRow = LiveRow,
> extends QueryType<Name, Args, Row> {
  readonly description: string
  readonly schema: InputSchema
  readonly table: Table
  readonly order?: FieldOrder
  readonly page?: Paging
  readonly row?: v.GenericSchema
  readonly fields: readonly string[]
  readonly answer: "rows" | "row"
  range(args: unknown, viewer: Viewer): ErasedRange
  authorize?(viewer: Viewer, args: unknown, sql: SnapshotSql): Promise<boolean>
  isOwn?(args: unknown): boolean
  dependencies?(args: unknown, viewer: Viewer): readonly Dependency[]
  project?(row: Record<string, unknown>): Record<string, unknown>
}

export interface ErasedRange {
  readonly eq: Readonly<Record<string, RangeValue | undefined>>
  readonly order?: FieldOrder | undefined
  /** Strictly after this position in the order. */
  readonly after?: string | undefined
  readonly limit?: number | undefined
}

/**
 * Declares a live query once for all its uses: the loader, the hub, the one-shot call and, through
 * its type, the browser. Throws if the declaration contradicts itself.
 */
export function defineLiveQuery<
  const Name extends string,
  Schema extends InputSchema,
  Row extends LiveRow,
  Viewer,
  Field extends keyof Row & string = keyof Row & string,
  Out extends LiveRow = Pick<Row, Field | "_id">,
>(
  definition: LiveQueryDefinition<Name, Schema, Row, Viewer, Field, Out>,
): LiveQuery<Viewer, Name, v.InferInput<Schema>, Out> {
  const { args, table, fields, answer = "rows", range, ...rest } = definition
  const { order, page } = rest
  if (rest.dependencies && !rest.authorize) {
    throw new Error(`The live query ${rest.name} has dependencies but no authorize to ask again.`)
  }
  if (rest.project && !rest.row) {
    throw new Error(`The live query ${rest.name} has a projection but no schema of its rows.`)
  }
  const known = Object.keys(table.columns)
  const sent = fields ? ["_id", ...fields.filter((field) => field !== "_id")] : known
  const strange = sent.find((field) => !known.includes(field))
  if (strange !== undefined) {
    throw new Error(`The live query ${rest.name} names ${strange}, which ${table.name} does not have.`)
  }
  // Erasing the types is safe: the engine passes only values that `args` parsed and `table`
  // decoded.
  return {
    ...rest,
    schema: args,
    table,
    fields: sent,
    answer,
    range: (parsed: v.InferOutput<Schema>, viewer: Viewer) => ({
      eq: range(parsed, viewer).eq,
      order,
      after: page && parsed[page.argument],
      limit: page?.size,
    }),
  } as unknown as LiveQuery<Viewer, Name, v.InferInput<Schema>, Out>
}

/** The fields of a row for `v.strictObject`, from the table's description. */
export function rowEntries<
  Columns extends Readonly<Record<string, Column>>,
  Field extends keyof Columns & string,
>(
  table: { readonly name: string; readonly columns: Columns },
  fields: readonly Field[],
): { [Name in Field]: v.GenericSchema<unknown, ReturnType<Columns[Name]["decode"]>> } {
  const entries = fields.map((field): [string, v.GenericSchema] => {
    const schema = table.columns[field]?.schema
    if (!schema)
      throw new Error(
        `No schema describes ${field} of ${table.name}: give it one where the table is declared.`,
      )
    return [field, schema]
  })
  // Each schema describes its column, which no type can follow through `fromEntries`.
  return Object.fromEntries(entries) as {
    [Name in Field]: v.GenericSchema<unknown, ReturnType<Columns[Name]["decode"]>>
  }
}

/** A declared mutation, as the engine runs it. */
export interface Mutation<
  Scope = unknown,
  Name extends string = string,
  Args = unknown,
  Value = unknown,
> extends MutationType<Name, Args, Value> {
  readonly description: string
  readonly schema: InputSchema
  readonly value?: v.GenericSchema
  readonly refusals?: Refusals
  run(scope: Scope, args: unknown): Promise<unknown>
}

/**
 * Declares a mutation that clients may call by name. `run` writes inside the transaction in its
 * scope.
 */
export function defineMutation<
  const Name extends string,
  Schema extends InputSchema,
  Scope,
  Value,
>(definition: {
  name: Name
  /** For the authors of clients. */
  description: string
  args: Schema
  /** The schema of what a client receives; null without it. */
  value?: v.GenericSchema<unknown, NoInfer<Value>>
  refusals?: Refusals
  run(scope: Scope, args: v.InferOutput<Schema>): Promise<Value>
}): Mutation<Scope, Name, v.InferInput<Schema>, Value> {
  const { args, ...rest } = definition
  return { ...rest, schema: args }
}
