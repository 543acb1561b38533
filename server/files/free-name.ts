import { and, eq, isNull, sql } from "drizzle-orm"
import { files, type File } from "#db/schema/files.ts"
import type { Scope } from "#server/scope.ts"
import { splitName } from "./contract.ts"
import { numberedName } from "./names.ts"

/**
 * The first number that is probably free in the file's place for `numberedName`. PostgreSQL looks
 * for it, because a place may have thousands of one name.
 */
export async function findFreeNumber(
  { db }: Scope<"db">,
  { userId, spaceId, fileName }: Pick<File, "userId" | "spaceId" | "fileName">,
): Promise<number> {
  const place =
    spaceId === null ? and(eq(files.userId, userId), isNull(files.spaceId)) : eq(files.spaceId, spaceId)
  const after = `)${splitName(fileName).extension}`
  // A long stem is cut to fit the number.
  const before = new Set(
    POWERS_OF_TEN.map((power) => numberedName(fileName, power).slice(0, -`${power}${after}`.length)),
  )
  const taken = sql.join(
    [...before].map(
      (prefix) => sql`
        select substr(${files.fileName}, length(${prefix}) + 1, length(${files.fileName}) - length(${prefix + after}))
        from ${files}
        where ${place} and not ${files.trashed}
          and starts_with(${files.fileName}, ${prefix})
          and right(${files.fileName}, length(${after})) = ${after}
          and length(${files.fileName}) > length(${prefix + after})`,
    ),
    sql` union all `,
  )
  const [found] = await db.execute<{ free: number }>(sql`
    with taken (number) as (
      select digits::int from (${taken}) as numbered (digits) where digits ~ '^[1-9][0-9]{0,6}$'
    )
    select min(number) as free
    from (select 1 union all select number + 1 from taken) as candidates (number)
    where number not in (select number from taken)`)
  if (!found) throw new Error("The database returned no free number.")
  return found.free
}

const POWERS_OF_TEN = Array.from({ length: 7 }, (_, power) => 10 ** power)

/** Whether a statement failed because another file of the place has the name. */
export function isNameTaken(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as { code?: unknown }
  return code === UNIQUE_VIOLATION || isNameTaken(error.cause)
}

const UNIQUE_VIOLATION = "23505"
