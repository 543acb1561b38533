import { count, eq, sql, type SQLWrapper } from "drizzle-orm"
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

const usedTruly = sql<number>`(select coalesce(sum(${files.size}), 0)::float8 from ${files} where ${isPaidBy(users._id, files)})`
const trashedTruly = sql<number>`(select coalesce(sum(${files.size}), 0)::float8 from ${files} where ${isPaidBy(users._id, files)} and ${files.trashed})`
const filesTruly = sql<number>`(select count(*)::float8 from ${files} where ${isPaidBy(users._id, files)})`
const reservedTruly = sql<number>`(select coalesce(sum(${uploads.reserved}), 0)::float8 from ${uploads} where ${isPaidBy(users._id, uploads)})`

/**
 * Users whose stored sums, which the quota uses, differ from the sums of their rows. One statement,
 * so that it sees one moment.
 */
export function findWrongUsage({ db }: Scope<"db">) {
  const used = sql<number>`coalesce(${fileUsage.used}, 0)::float8`
  const reserved = sql<number>`coalesce(${fileUsage.reserved}, 0)::float8`
  const trashed = sql<number>`coalesce(${fileUsage.trashed}, 0)::float8`
  const counted = sql<number>`coalesce(${fileUsage.files}, 0)::float8`
  return db
    .select({
      userId: users._id,
      email: users.email,
      used,
      reserved,
      trashed,
      files: counted,
      usedTruly,
      reservedTruly,
      trashedTruly,
      filesTruly,
    })
    .from(users)
    .leftJoin(fileUsage, eq(fileUsage.userId, users._id))
    .where(
      sql`(${used}, ${reserved}, ${trashed}, ${counted}) <> (${usedTruly}, ${reservedTruly}, ${trashedTruly}, ${filesTruly})`,
    )
}

/**
 * Everything that changes the sums locks their row first or last, so a reader with the lock sees
 * all of a change or none.
 */
export async function correctUsage({ db }: Scope<"db">, userId: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.insert(fileUsage).values({ userId }).onConflictDoNothing()
    await tx.select().from(fileUsage).where(eq(fileUsage.userId, userId)).for("update")
    // Separate statements, which see what was committed while waiting for the lock.
    const [sum] = await tx
      .select({
        used: sql<number>`coalesce(sum(${files.size}), 0)::float8`,
        trashed: sql<number>`coalesce(sum(${files.size}) filter (where ${files.trashed}), 0)::float8`,
        files: count(),
      })
      .from(files)
      .where(isPaidBy(userId, files))
    const [held] = await tx
      .select({ reserved: sql<number>`coalesce(sum(${uploads.reserved}), 0)::float8` })
      .from(uploads)
      .where(isPaidBy(userId, uploads))
    await tx
      .update(fileUsage)
      .set({ ...sum, ...held })
      .where(eq(fileUsage.userId, userId))
  })
}
