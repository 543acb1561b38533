import { and, asc, desc, eq, getTableColumns, sql } from "drizzle-orm"
import type { PgColumn } from "drizzle-orm/pg-core"
import * as v from "valibot"
import { sourceOf } from "#db/schema/live-table.ts"
import { requirePlace } from "#server/cursor.ts"
import { BadRequest, NotFound } from "#server/errors.ts"
import { PageCursor, PageLength } from "#server/page-contract.ts"
import type { LiveRow } from "#live/contract"
import { type FieldOrder, type LiveQuery, rowEntries } from "#live/open"
import type { FieldsSchema } from "#live/check"
import type { Missing } from "#server/refusal-contract.ts"
import type { MutationScope, Scope, Viewer } from "#server/scope.ts"
import type { Declared } from "./contract.ts"
import type { Operation } from "./implement.ts"

/** How HTTP offers the rows of a live query. */
interface ListSpec<Input extends FieldsSchema> extends Pick<Declared, "tag" | "may"> {
  /** What does not exist for those who may not see the list; a record, if it is left out. */
  missing?: Missing
  /** Besides `cursor` and `limit`, if the live query has pages. Without it the list needs nothing. */
  input?: Input
  http: { at: `GET /api/${string}`; id: string; probe?: string; field: string }
  /** The arguments of the live query, if they are not the input. */
  args?(scope: MutationScope, input: v.InferOutput<Input>): Promise<object>
}

/** The rows of a live query as they are now: the same rows, in the same order and pages. */
export function listOf<Input extends FieldsSchema>(
  query: LiveQuery<Viewer>,
  { input, http: { field, ...http }, args, missing = "record", ...rest }: ListSpec<Input>,
): Operation {
  const page = query.page ? { cursor: PageCursor, limit: PageLength } : {}
  const next: v.ObjectEntries = query.page ? { nextCursor: v.nullable(v.string()) } : {}
  return {
    ...rest,
    missing,
    http,
    name: query.name,
    about: query.description,
    input: v.strictObject({ ...input?.entries, ...page }),
    output: v.strictObject({ [field]: v.array(rowSchema(query)), ...next }),
    async run(scope, asked) {
      const { cursor, limit, ...given } = asked as v.InferOutput<Input> & Paging
      const wanted = args ? await args(scope, given) : given
      const { rows, end } = await readList(scope, query, wanted, { cursor, limit, missing })
      return query.page ? { [field]: rows, nextCursor: end } : { [field]: rows }
    },
  }
}

/** A row of a live query, as clients receive it. */
export function rowSchema(query: Pick<LiveQuery, "row" | "table" | "fields">): v.GenericSchema {
  return query.row ?? v.strictObject(rowEntries(query.table, query.fields))
}

interface Paging {
  /** The `end` of the page before, here or in the live query. */
  cursor?: string | undefined
  limit?: number | undefined
}

/**
 * The rows of a live query, all of them or a page. Throws `NotFound` for arguments that are refused,
 * and `BadRequest` for a cursor that no page has.
 */
export async function readList<Row extends LiveRow>(
  scope: Scope<"db" | "viewer">,
  query: LiveQuery<Viewer, string, unknown, Row>,
  args: unknown,
  { cursor, limit, missing }: Paging & { missing: Missing },
): Promise<{ rows: Row[]; end: string | null }> {
  const parsed = v.safeParse(query.schema, args)
  if (!parsed.success) throw new NotFound(missing)
  // Before too, so that nothing is read for somebody who may not see it.
  await requireAccess(scope, query, parsed.output, missing)
  const columns: Readonly<Record<string, PgColumn>> = getTableColumns(sourceOf(query.table))
  const { eq: compared, order = { field: "_id", direction: "asc" } } = query.range(
    parsed.output,
    scope.viewer,
  )
  const reading = scope.db
    .select(Object.fromEntries(query.fields.map((field) => [field, columnOf(columns, field)])))
    .from(sourceOf(query.table))
    .where(
      and(
        ...Object.entries(compared).map(([field, value]) => eq(columnOf(columns, field), value)),
        cursor === undefined ? undefined : isAfter(cursor, order, columns),
      ),
    )
    .orderBy(...[order.field, "_id"].map((field) => DIRECTIONS[order.direction](columnOf(columns, field))))
  const found = await (limit === undefined ? reading : reading.limit(limit + 1))
  // Afterwards, so that nobody is shown what was added when they had lost their access.
  await requireAccess(scope, query, parsed.output, missing)
  const rows = (limit === undefined ? found : found.slice(0, limit)) as Record<string, unknown>[]
  const last = found.length > rows.length ? rows.at(-1) : undefined
  return {
    rows: (query.project ? rows.map(query.project) : rows) as Row[],
    end: last ? `${String(last["_id"])}~${String(last[order.field])}` : null,
  }
}

const DIRECTIONS = { asc, desc }

async function requireAccess(
  { db, viewer }: Scope<"db" | "viewer">,
  query: LiveQuery<Viewer>,
  args: unknown,
  missing: Missing,
): Promise<void> {
  if (!query.authorize || query.isOwn?.(args)) return
  const ask = (text: TemplateStringsArray, ...values: unknown[]) => db.execute(sql(text, ...values))
  if (!(await query.authorize(viewer, args, ask))) throw new NotFound(missing)
}

function isAfter(
  cursor: string,
  { field, direction }: FieldOrder,
  columns: Readonly<Record<string, PgColumn>>,
) {
  const column = columnOf(columns, field)
  const [value, key] = placeIn(cursor)
  const place = { value: column.dataType === "number" ? Number(value) : value, key }
  if (!v.is(v.strictObject({ value: column.dataType === "number" ? Whole : Id, key: Id }), place))
    throw new BadRequest("cursor-foreign")
  const beyond = sql.raw(direction === "asc" ? ">" : "<")
  return sql`(${column}, ${columnOf(columns, "_id")}) ${beyond} (${place.value}, ${place.key})`
}

const Id = v.pipe(v.string(), v.uuid())
const Whole = v.pipe(v.number(), v.safeInteger())

function placeIn(cursor: string): readonly unknown[] {
  const [key, value] = cursor.split("~")
  if (value !== undefined) return [value, key]
  // As the previous version wrote it: the id, or the value and the id.
  return v.is(Id, cursor)
    ? [cursor, cursor]
    : (requirePlace(v.tuple([v.unknown(), v.unknown()]), cursor) ?? [])
}

function columnOf(columns: Readonly<Record<string, PgColumn>>, field: string): PgColumn {
  const column = columns[field]
  if (!column) throw new Error(`There is no column ${field}.`)
  return column
}
