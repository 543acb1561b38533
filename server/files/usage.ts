import { eq, sql, type SQL, type SQLWrapper } from "drizzle-orm"
import { files, fileUsage, uploads } from "#db/schema/files.ts"
import { spaceMembers } from "#db/schema/spaces.ts"
import { users } from "#db/schema/users.ts"
import type { Scope } from "#server/scope.ts"

/** What a person pays for: what is personal to them, and what is in the spaces that they own. */
export function isPaidBy(
  userId: SQLWrapper | string,
  { userId: author, spaceId }: typeof files | typeof uploads,
) {
  return sql`((${spaceId} is null and ${author} = ${userId}) or ${spaceId} in (
    select ${spaceMembers.spaceId} from ${spaceMembers}
    where ${spaceMembers.userId} = ${userId} and ${spaceMembers.role} = 'owner'))`
}

/** What the rows say, in the order of the stored sums. */
function sumsOf(userId: SQLWrapper | string) {
  const ofFiles = (sum: SQL) =>
    sql<number>`(select ${sum}::float8 from ${files} where ${isPaidBy(userId, files)})`
  return {
    used: ofFiles(sql`coalesce(sum(${files.size}), 0)`),
    reserved: sql<number>`(select coalesce(sum(${uploads.reserved}), 0)::float8 from ${uploads} where ${isPaidBy(userId, uploads)})`,
    trashed: ofFiles(sql`coalesce(sum(${files.size}) filter (where ${files.trashed}), 0)`),
    files: ofFiles(sql`count(*)`),
  }
}

/**
 * Users whose stored sums, which the quota uses, differ from the sums of their rows. One statement,
 * so that it sees one moment.
 */
export function findWrongUsage({ db }: Scope<"db">) {
  const counted = {
    used: orNone(fileUsage.used),
    reserved: orNone(fileUsage.reserved),
    trashed: orNone(fileUsage.trashed),
    files: orNone(fileUsage.files),
  }
  const truly = sumsOf(users._id)
  return db
    .select({ userId: users._id, email: users.email, counted, truly })
    .from(users)
    .leftJoin(fileUsage, eq(fileUsage.userId, users._id))
    .where(sql`${rowOf(counted)} <> ${rowOf(truly)}`)
}

function orNone(stored: SQLWrapper) {
  return sql<number>`coalesce(${stored}, 0)::float8`
}

function rowOf(sums: Record<string, SQL>) {
  return sql`(${sql.join(Object.values(sums), sql`, `)})`
}

/**
 * Everything that changes the sums locks their row first or last, so a reader with the lock sees
 * all of a change or none.
 */
export async function correctUsage({ db }: Scope<"db">, userId: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.insert(fileUsage).values({ userId }).onConflictDoNothing()
    await tx.select().from(fileUsage).where(eq(fileUsage.userId, userId)).for("update")
    // Another statement, which sees what was committed while waiting for the lock.
    await tx.update(fileUsage).set(sumsOf(userId)).where(eq(fileUsage.userId, userId))
  })
}
