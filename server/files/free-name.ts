import { and, eq, isNull, sql, type SQL } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { files, type File } from "#db/schema/files.ts"
import { PERSONAL } from "#db/schema/spaces.ts"
import type { Scope } from "#server/scope.ts"
import { splitName } from "./contract.ts"
import { numberedName, seriesOf } from "./names.ts"

type Named = Pick<File, "_id" | "fileName">

/** Names that are looked up at a time. */
const AT_ONCE = 500

/** Numbers of a name that are tried one after the other before the first free one is looked for. */
const TRIED = 3

/** How many names that is done for: each time, PostgreSQL reads all names of the place. */
const LOOKED_FOR = 20

/**
 * Runs `write` with the names that are free in the place, as an expression for rows of `files`:
 * `a (1).txt` where `a.txt` is taken. It gets none if no name changes. All files are written by one
 * statement, so that it holds no lock that an upload needs while it waits for the name of one. If
 * another request takes a name at the same moment, this tries again.
 */
export async function underFreeNames<Result>(
  scope: { db: Database } & Scope<"viewer">,
  spaceId: string | null,
  moving: readonly Named[],
  write: (
    db: Database,
    fileName: SQL<string> | undefined,
    names: ReadonlyMap<string, string>,
  ) => Promise<Result>,
): Promise<Result> {
  // Those who bring several files into one place wait for each other here, and not each for a name
  // that the other has taken.
  const place = spaceId ?? scope.viewer.user._id
  await scope.db.execute(sql`select pg_advisory_xact_lock(hashtext(${`files into ${place}`}))`)
  for (;;) {
    const names = await findFreeNames(scope, spaceId, moving)
    const json = JSON.stringify(Object.fromEntries(names))
    const fileName = sql<string>`coalesce(${json}::jsonb ->> ${files._id}::text, ${files.fileName})`
    try {
      return await scope.db.transaction((inner) =>
        write(inner, names.size === 0 ? undefined : fileName, names),
      )
    } catch (error) {
      if (!isNameTaken(error)) throw error
    }
  }
}

/** The new names by the ids of the files, of those that cannot keep theirs. */
async function findFreeNames(
  scope: { db: Database } & Scope<"viewer">,
  spaceId: string | null,
  moving: readonly Named[],
): Promise<Map<string, string>> {
  const userId = scope.viewer.user._id
  const given = new Set<string>()
  const names = new Map<string, string>()
  const next = new Map<string, number>()
  const lookedFor = new Set<string>()

  async function nextNumber(fileName: string, round: number): Promise<number> {
    const series = seriesOf(fileName)
    let number = next.get(series) ?? 1
    if (round > TRIED && lookedFor.size < LOOKED_FOR && !lookedFor.has(series)) {
      lookedFor.add(series)
      number = Math.max(number, await findFreeNumber(scope, { userId, spaceId, fileName }))
    }
    next.set(series, number + 1)
    return number
  }

  for (let from = 0; from < moving.length; from += AT_ONCE) {
    let waiting = moving.slice(from, from + AT_ONCE).map((file) => ({ file, name: file.fileName }))
    for (let round = 1; waiting.length > 0; round++) {
      const taken = await findTaken(scope, spaceId, waiting)
      const left: typeof waiting = []
      for (const { file, name } of waiting) {
        if (!taken.has(name) && !given.has(name)) {
          given.add(name)
          if (name !== file.fileName) names.set(file._id, name)
        } else {
          const number = await nextNumber(file.fileName, round)
          left.push({ file, name: numberedName(file.fileName, number) })
        }
      }
      waiting = left
    }
  }
  return names
}

/** One by one by the index that keeps the names of a place unique, whatever PostgreSQL knows of the table. */
async function findTaken(
  { db, viewer }: { db: Database } & Scope<"viewer">,
  spaceId: string | null,
  wanted: readonly { name: string }[],
): Promise<Set<string>> {
  const place = sql`coalesce(nullif(${files.spaceKey}, ${sql.raw(`'${PERSONAL}'::uuid`)}), ${files.userId})`
  const names = JSON.stringify(wanted.map(({ name }) => name))
  const found = await db.execute<{ name: string }>(sql`
    select name from jsonb_array_elements_text(${names}::jsonb) as wanted (name), lateral (
      select from ${files}
      where ${place} = ${spaceId ?? viewer.user._id} and ${files.fileName} = name and not ${files.trashed}
      limit 1
    ) as taken`)
  return new Set(found.map(({ name }) => name))
}

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
