import { and, eq, sql } from "drizzle-orm"
import { users, type User } from "#db/schema/users.ts"
import { Forbidden } from "#server/errors.ts"
import type { Session } from "#server/ports/identity.ts"
import type { Scope } from "#server/scope.ts"
import { ownRecord } from "./access.ts"
import type { CreateOrUpdateUser, SaveProfile } from "./contract.ts"

/**
 * The record of a signed-in person, made from the identity provider's word when there is none yet.
 * Throws `Forbidden` when the provider no longer knows them: an account deleted while its session lived.
 */
export async function findOrCreateUser(
  scope: Scope<"db" | "identity">,
  session: Pick<Session, "userId">,
): Promise<User> {
  const known = await findUser(scope, session.userId)
  if (known) return known

  const [made] = await scope.db
    .insert(users)
    .values(await askProvider(scope, session))
    .onConflictDoNothing()
    .returning()
  // No row comes back when another request made the record in between.
  return made ?? (await requireUser(scope, session.userId))
}

/**
 * Writes what the identity provider says of the caller to their record; nothing when it says so already.
 * The client asks for this but decides none of it: throws `Forbidden` for another person's id, and for an email or a plan that
 * the provider, asked now, does not confirm.
 */
export async function createOrUpdateUser(
  scope: Scope<"db" | "identity" | "viewer">,
  input: CreateOrUpdateUser,
): Promise<User> {
  const { userId } = scope.viewer.session
  if (input.clerkId !== userId) throw new Forbidden("A user record can be written by its own user only.")
  const person = await scope.identity.getUser(userId, { fresh: true })
  if (!person || input.email !== (person.email ?? "") || input.plan !== person.plan) {
    throw new Forbidden("The identity provider says another email or plan. Reload the page.")
  }

  const values = {
    email: input.email,
    name: input.name ?? null,
    imageUrl: input.imageUrl ?? null,
    plan: input.plan,
  }
  const [written] = await scope.db
    .insert(users)
    .values({ clerkId: userId, ...values })
    .onConflictDoUpdate({
      target: users.clerkId,
      set: values,
      setWhere: sql`(${users.email}, ${users.name}, ${users.imageUrl}, ${users.plan})
        is distinct from (excluded.email, excluded.name, excluded.image_url, excluded.plan)`,
    })
    .returning()
  return written ?? (await requireUser(scope, userId))
}

/** The caller's own record by the provider's id. Null when there is none, and for any id but their own. */
export async function getUserByClerkId(scope: Scope<"db" | "viewer">, clerkId: string): Promise<User | null> {
  const [user] = await scope.db
    .select()
    .from(users)
    .where(and(ownRecord(scope.viewer), eq(users.clerkId, clerkId)))
  return user ?? null
}

/** The provider's values for the caller, as the sync compares them with the record. Throws as `findOrCreateUser` does. */
export async function getProviderValues(scope: Scope<"identity" | "viewer">): Promise<CreateOrUpdateUser> {
  return askProvider(scope, scope.viewer.session)
}

/** Renames the caller, at the identity provider first: it owns the name, and the next sync would bring its old one back. */
export async function saveProfile(
  scope: Scope<"db" | "identity" | "viewer">,
  profile: SaveProfile,
): Promise<void> {
  await scope.identity.updateUser(scope.viewer.session.userId, { name: profile.name })
  await scope.db.update(users).set({ name: profile.name }).where(ownRecord(scope.viewer))
}

async function askProvider(scope: Scope<"identity">, session: Pick<Session, "userId">) {
  const person = await scope.identity.getUser(session.userId)
  if (!person) throw new Forbidden("Your account is gone from the identity provider. Sign in again.")
  return {
    clerkId: person.id,
    email: person.email ?? "",
    name: person.name,
    imageUrl: person.imageUrl,
    plan: person.plan,
  }
}

async function findUser(scope: Scope<"db">, clerkId: string): Promise<User | undefined> {
  const [user] = await scope.db.select().from(users).where(eq(users.clerkId, clerkId))
  return user
}

async function requireUser(scope: Scope<"db">, clerkId: string): Promise<User> {
  const user = await findUser(scope, clerkId)
  if (!user)
    throw new Error(
      `The record of user ${clerkId} was deleted while it was being written. The request can be repeated.`,
    )
  return user
}
