import { and, asc, eq, getTableColumns, getTableName, gt, or, type SQL } from "drizzle-orm"
import type { PgColumn, PgTable } from "drizzle-orm/pg-core"
import { ownerships } from "#db/ownerships.ts"
import { fileUsage } from "#db/schema/files.ts"
import { keyOf, namingsOf, type Naming, type Whose } from "#db/schema/ownership.ts"
import type { User } from "#db/schema/users.ts"
import { eachRow } from "#server/each-row.ts"
import type { Scope } from "#server/scope.ts"
import { mayRead } from "#server/spaces/access.ts"
import { findAddresses, namesOneOf, type Address } from "./addresses.ts"

/**
 * What is stored about the viewer besides their profile, conversations and the bytes of their files,
 * as the tables declare it: for each an iterable. No secrets.
 */
export async function findOwnRecords(
  scope: Scope<"db" | "identity" | "viewer">,
): Promise<Record<string, unknown>> {
  const { user } = scope.viewer
  const addresses = await findAddresses(scope, user)
  const [usage = { used: 0, reserved: 0 }] = await scope.db
    .select({ used: fileUsage.used, reserved: fileUsage.reserved })
    .from(fileUsage)
    .where(eq(fileUsage.userId, user._id))
  const records: Record<string, unknown> = { usage }
  for (const [table, whose] of ownerships)
    if ("exported" in whose)
      records[whose.exportedAs ?? getTableName(table)] = rowsOf(scope, table, whose, addresses)
  return records
}

async function* rowsOf(
  { db, viewer }: Scope<"db" | "viewer">,
  table: PgTable,
  whose: Extract<Whose, { exported: readonly string[] }>,
  addresses: readonly Address[],
): AsyncGenerator {
  const { user } = viewer
  const columns: Record<string, PgColumn> = getTableColumns(table)
  const key = keyOf(table)
  const { userId, spaceKey } = columns
  const where = and(
    or(
      ...namingsOf(table, whose).map(({ exportedBy, ...naming }) =>
        isOf(table, exportedBy ? { ...naming, email: undefined } : naming, user, addresses),
      ),
    ),
    // Others may have renamed since what is in a space that they have left.
    userId && spaceKey && mayRead({ db, viewer }, { userId, spaceKey }),
    whose.where,
  )
  const fields = {
    ...Object.fromEntries(Object.entries(columns).filter(([field]) => whose.exported.includes(field))),
    ...whose.computed?.({ userId: user._id, clerkId: user.clerkId }),
  }
  const found = eachRow((after, most) =>
    db
      .select({ _id: key, fields })
      .from(table)
      .where(and(where, after === undefined ? undefined : gt(key, after)))
      .orderBy(asc(key))
      .limit(most)
      .then((rows) => rows.map((row) => ({ _id: String(row["_id"]), fields: row["fields"] }))),
  )
  for await (const row of found) yield row.fields
}

/**
 * Takes a person out of all rows that name them, as the tables declare it, as far as the database does
 * not do it when their record is deleted.
 */
export async function forgetInRecords(
  { db }: Scope<"db">,
  user: User,
  addresses: readonly Address[],
): Promise<void> {
  for (const [table, whose] of ownerships) {
    const { end = "deleted" } = whose
    if (typeof end === "object" && "by" in end) continue
    for (const naming of namingsOf(table, whose)) {
      const where = isOf(table, naming, user, addresses)
      if (typeof end === "object")
        await db
          .update(table)
          .set(nothingIn(table, naming, end.forgets))
          .where(where)
      else if (!naming.isReference) await db.delete(table).where(where)
    }
  }
}

function nothingIn(table: PgTable, { id, email }: Naming, forgets: readonly string[]) {
  const emptied = Object.entries(getTableColumns(table)).filter(
    ([field, column]) => forgets.includes(field) || column === id || column === email,
  )
  return Object.fromEntries(emptied.map(([field]) => [field, null]))
}

/** The provider's ids are texts, and those of records are none. */
function isOf(
  table: PgTable,
  { id, email }: Naming,
  { _id, clerkId }: User,
  addresses: readonly Address[],
): SQL {
  const { _creationTime } = getTableColumns(table)
  const isNamed = or(
    id && eq(id, id.columnType === "PgUUID" ? _id : clerkId),
    email && _creationTime && namesOneOf(email, _creationTime, addresses),
  )
  // Without a condition all rows would be meant.
  if (!isNamed) throw new Error(`Rows of ${getTableName(table)} name nobody.`)
  return isNamed
}
