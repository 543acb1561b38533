import { getTableColumns, type InferSelectModel, type SQL } from "drizzle-orm"
import { getTableConfig, type PgColumn, type PgTable } from "drizzle-orm/pg-core"

/**
 * Whose the rows of a table are, what of them is in the archive of the person's data, and when they
 * are deleted.
 */
export type Whose<Field = string> = {
  /** The field with the person's id, or several ways in which a row can name them. */
  of: Field | readonly { id?: Field; email?: Field; exportedBy?: "id" }[]
  /**
   * At the end of the account rows are deleted, by the foreign key where there is one, if nothing else
   * is said: a rule lets them stay in their space without the person, these fields of them are emptied,
   * or something else deletes them.
   */
  end?: "stays in its space" | { forgets: readonly Field[]; because: string } | { by: string }
  /** Deleted when the moment in this field, and as many milliseconds, are over. */
  kept?: {
    until: Field
    for?: number
    /** Rows that a statement deletes at most, 1000 if it is left out. */
    atOnce?: number
  }
} & (
  | {
      /** The name of the list in `records.json`, if it is not the table's. */
      exportedAs?: string
      exported: readonly Field[]
      computed?: (person: Ids) => Record<string, SQL>
      where?: SQL
    }
  | { exportedIn: string }
  /** The reason. */
  | { notExported: string }
)

interface Ids {
  userId: string
  clerkId: string
}

type FieldOf<Owned extends PgTable> = keyof InferSelectModel<Owned> & string

export type WhoseRow<Owned extends PgTable> = Whose<FieldOf<Owned>>

/** Filled by the modules of the schema. `db/ownerships.ts` imports all of them. */
const declared = new Map<PgTable, Whose>()

/** Declares whose the rows of a table are that is not live. A live one says it to `liveTable`. */
export function owned<Owned extends PgTable>(table: Owned, whose: WhoseRow<Owned>): void {
  declared.set(table, whose)
}

export const ownerships: ReadonlyMap<PgTable, Whose> = declared

/** A way in which rows name a person: by the id of their record or of the identity provider, or by an email address. */
export interface Naming {
  id: PgColumn | undefined
  email: PgColumn | undefined
  /** Rows that name them by the email address alone are not in the archive. */
  exportedBy?: "id" | undefined
  /** The database deletes or changes them with the person. */
  isReference: boolean
}

/** The primary key. */
export function keyOf(table: PgTable): PgColumn {
  const key = getTableConfig(table).columns.find(({ primary }) => primary)
  if (!key) throw new Error(`${getTableConfig(table).name} has no primary key of one column.`)
  return key
}

export function namingsOf(table: PgTable, { of }: Whose): Naming[] {
  const columns: Record<string, PgColumn> = getTableColumns(table)
  const references = getTableConfig(table).foreignKeys.flatMap((key) => key.reference().columns)
  const namings: Exclude<typeof of, string> = typeof of === "string" ? [{ id: of }] : of
  return namings.map(({ id = "", email = "", exportedBy }) => ({
    exportedBy,
    id: columns[id],
    email: columns[email],
    isReference: references.some(({ name }) => name === columns[id]?.name),
  }))
}
