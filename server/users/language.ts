import { and, eq, sql } from "drizzle-orm"
import { users } from "#db/schema/users.ts"
import type { Language } from "#server/language-contract.ts"
import type { Scope } from "#server/scope.ts"

/** Stores the language of a person's emails. Does nothing if there is no record. */
export async function saveLanguage({ db }: Scope<"db">, clerkId: string, language: Language): Promise<void> {
  await db
    .update(users)
    .set({ language })
    .where(and(eq(users.clerkId, clerkId), sql`${users.language} is distinct from ${language}`))
}

/** Null if there is no record or it has no language. */
export async function findLanguage({ db }: Scope<"db">, clerkId: string): Promise<Language | null> {
  const [user] = await db.select({ language: users.language }).from(users).where(eq(users.clerkId, clerkId))
  return user?.language ?? null
}
