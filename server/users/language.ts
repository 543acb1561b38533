import { and, eq, sql } from "drizzle-orm"
import { users } from "#db/schema/users.ts"
import type { Language } from "./language-contract.ts"
import type { Scope } from "#server/scope.ts"

/** Keeps the language in which emails are written to somebody. Without a record there is nothing to keep it with, and nothing is done. */
export async function saveLanguage({ db }: Scope<"db">, clerkId: string, language: Language): Promise<void> {
  await db
    .update(users)
    .set({ language })
    .where(and(eq(users.clerkId, clerkId), sql`${users.language} is distinct from ${language}`))
}

/** Null where there is no record, or it says nothing yet. */
export async function findLanguage({ db }: Scope<"db">, clerkId: string): Promise<Language | null> {
  const [user] = await db.select({ language: users.language }).from(users).where(eq(users.clerkId, clerkId))
  return user?.language ?? null
}
