import { eq, sql } from "drizzle-orm"
import { files, fileUsage, uploads } from "#db/schema/files.ts"
import { users } from "#db/schema/users.ts"
import type { Scope } from "#server/scope.ts"

const usedTruly = sql<number>`(select coalesce(sum(${files.size}), 0)::float8 from ${files} where ${files.userId} = ${users._id})`
const trashedTruly = sql<number>`(select coalesce(sum(${files.size}), 0)::float8 from ${files} where ${files.userId} = ${users._id} and ${files.trashed})`
const reservedTruly = sql<number>`(select coalesce(sum(${uploads.reserved}), 0)::float8 from ${uploads} where ${uploads.userId} = ${users._id})`

/**
 * Users whose stored sums, which the quota uses, differ from the sums of their rows. One statement,
 * so that it sees one moment.
 */
export function findWrongUsage({ db }: Scope<"db">) {
  const used = sql<number>`coalesce(${fileUsage.used}, 0)::float8`
  const reserved = sql<number>`coalesce(${fileUsage.reserved}, 0)::float8`
  const trashed = sql<number>`coalesce(${fileUsage.trashed}, 0)::float8`
  return db
    .select({
      userId: users._id,
      email: users.email,
      used,
      reserved,
      trashed,
      usedTruly,
      reservedTruly,
      trashedTruly,
    })
    .from(users)
    .leftJoin(fileUsage, eq(fileUsage.userId, users._id))
    .where(sql`(${used}, ${reserved}, ${trashed}) <> (${usedTruly}, ${reservedTruly}, ${trashedTruly})`)
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
      })
      .from(files)
      .where(eq(files.userId, userId))
    const [held] = await tx
      .select({ reserved: sql<number>`coalesce(sum(${uploads.reserved}), 0)::float8` })
      .from(uploads)
      .where(eq(uploads.userId, userId))
    await tx
      .update(fileUsage)
      .set({ ...sum, ...held })
      .where(eq(fileUsage.userId, userId))
  })
}
