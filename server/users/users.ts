import { randomUUID } from "node:crypto"
import { and, eq, getTableColumns, sql, type SQL } from "drizzle-orm"
import * as v from "valibot"
import { users, type User } from "#db/schema/users.ts"
import type { Config } from "#server/config.ts"
import { badInput, Forbidden } from "#server/errors.ts"
import { emailLater } from "#server/mail/mail.ts"
import type { Session } from "#server/ports/session.ts"
import type { Scope } from "#server/scope.ts"
import { joinSpaceForEveryone } from "#server/spaces/for-everyone.ts"
import { ownRecord } from "./access.ts"
import { PersonName, type CreateOrUpdateUser, type Plan, type SaveProfile } from "./contract.ts"

/**
 * The record of a signed-in person, created from the identity provider's values if there is none, with
 * its membership in the space for everyone.
 * Throws `Forbidden` if the provider no longer knows them: the account was deleted while its
 * session lived.
 */
export async function findOrCreateUser(
  scope: Scope<"db" | "identity"> & { config: Pick<Config, "spaceForEveryone"> },
  session: Pick<Session, "userId">,
): Promise<User> {
  const known = await findUser(scope, session.userId)
  if (known) return known

  // Requested without the cache, which may still have a user who was just deleted.
  const person = await askProvider(scope, session, { fresh: true })
  const made = await scope.db.transaction(async (db) => {
    const [user] = await db.insert(users).values(person).onConflictDoNothing().returning()
    if (user) await joinSpaceForEveryone({ ...scope, db }, user._id)
    return user
  })
  // No row is returned if another request created the record in between.
  return made ?? (await requireUser(scope, session.userId))
}

/** Stands in for the record of a person who has none, where the database has no space for one. */
export async function unsavedUser(scope: Scope<"identity">, session: Pick<Session, "userId">): Promise<User> {
  return {
    ...(await askProvider(scope, session)),
    _id: randomUUID(),
    _creationTime: Date.now(),
    onboardingCompleted: null,
    onboardingStep: null,
    language: null,
    notifiesInApp: true,
    notifiesByEmail: true,
  }
}

/**
 * Writes the identity provider's values for the caller to their record, if they differ. A change of
 * the plan queues an email about it. Throws `Forbidden` for another person's id and for an email
 * address or a plan that the provider, asked now, does not confirm, and `BadRequest` for a name
 * that is neither the provider's nor one the forms accept.
 */
export async function createOrUpdateUser(
  scope: Scope<"db" | "identity" | "viewer"> & { config: Pick<Config, "origin"> },
  input: CreateOrUpdateUser,
): Promise<User> {
  const { userId } = scope.viewer.session
  if (input.clerkId !== userId) throw new Forbidden("user-foreign")
  const person = await scope.identity.getUser(userId, { fresh: true })
  if (!person || input.email !== (person.email ?? "") || input.plan !== person.plan) {
    throw new Forbidden("account-differs-at-provider")
  }

  const { email, name = null, imageUrl = null, plan } = input
  // A provider may allow longer names than our forms do. Only what it reports is exempt from their
  // rules.
  if (name !== null && name !== person.name) requirePersonName(name)
  return (
    (await writeUser(scope, { clerkId: userId, email, name, imageUrl, plan })) ??
    (await requireUser(scope, userId))
  )
}

/**
 * Writes the provider's values to a person's record and queues an email if the plan changed; null
 * if nothing differs. The caller has made sure that the provider reported these values.
 */
export async function writeUser(
  scope: Scope<"db"> & { config: Pick<Config, "origin"> },
  { clerkId, ...values }: Pick<User, "clerkId" | "email" | "name" | "imageUrl" | "plan">,
): Promise<User | null> {
  const [made] = await scope.db
    .insert(users)
    .values({ clerkId, ...values })
    .onConflictDoNothing({ target: users.clerkId })
    .returning()
  return made ?? updateUser(scope, { clerkId, ...values })
}

/** The same for somebody who may have been deleted: without a record, they get none. */
export async function updateUser(
  scope: Scope<"db"> & { config: Pick<Config, "origin"> },
  { clerkId, ...values }: Pick<User, "clerkId" | "email" | "name" | "imageUrl" | "plan">,
): Promise<User | null> {
  const differs = sql`(${users.email}, ${users.name}, ${users.imageUrl}, ${users.plan})
    is distinct from (${values.email}, ${values.name}, ${values.imageUrl}, ${values.plan})`
  return scope.db.transaction((db) => changeUser({ db, config: scope.config }, clerkId, values, differs))
}

/**
 * Changes the address in a person's record if it exists: records are created at the first visit.
 */
export async function changeAddress(
  { db }: Scope<"db">,
  { userId, email }: { userId: string; email: string },
): Promise<void> {
  await db.update(users).set({ email }).where(eq(users.clerkId, userId))
}

/**
 * Changes the plan in a person's record and queues the email about it. Returns false if there is no
 * record or it has this plan already.
 */
export async function setUserPlan(
  scope: Scope<"db"> & { config: Pick<Config, "origin"> },
  clerkId: string,
  plan: Plan,
): Promise<boolean> {
  return scope.db.transaction(async (db) => {
    const differs = sql`${users.plan} is distinct from ${plan}`
    return (await changeUser({ db, config: scope.config }, clerkId, { plan }, differs)) !== null
  })
}

/** Null if there is no record, or nothing differs. Takes part in the caller's transaction. */
async function changeUser(
  outbox: Scope<"db"> & { config: Pick<Config, "origin"> },
  clerkId: string,
  values: Partial<Pick<User, "email" | "name" | "imageUrl" | "plan">>,
  differs: SQL,
): Promise<User | null> {
  const { db } = outbox
  const own = eq(users.clerkId, clerkId)
  // Locked, so that the plan is the one that the update replaces.
  const [previous] = await db.select({ plan: users.plan }).from(users).where(own).for("update")
  const [written] = await db
    .update(users)
    .set(values)
    .where(and(own, differs))
    .returning({ ...getTableColumns(users), change: sql<string>`pg_current_xact_id()::text` })
  if (!previous || !written) return null
  const { change, ...user } = written
  const previousPlan = previous.plan ?? "free"
  const newPlan = user.plan ?? "free"
  if (previousPlan !== newPlan && user.email)
    await emailLater(outbox, "plan-changed", { ...user, previousPlan, newPlan, change })
  return user
}

/** The caller's own record by the provider's id. Null if there is none, and for any other id. */
export async function getUserByClerkId(scope: Scope<"db" | "viewer">, clerkId: string): Promise<User | null> {
  const [user] = await scope.db
    .select()
    .from(users)
    .where(and(ownRecord(scope.viewer), eq(users.clerkId, clerkId)))
  return user ?? null
}

/**
 * The provider's values for the caller, as the sync compares them with the record. Throws as
 * `findOrCreateUser` does.
 */
export async function getProviderValues(scope: Scope<"identity" | "viewer">): Promise<CreateOrUpdateUser> {
  return askProvider(scope, scope.viewer.session)
}

/**
 * Renames the caller, at the identity provider first: it owns the name, and the next sync would
 * restore the old one.
 */
export async function saveProfile(
  scope: Scope<"db" | "identity" | "viewer">,
  profile: SaveProfile,
): Promise<void> {
  await scope.identity.updateUser(scope.viewer.session.userId, { name: profile.name })
  await scope.db.update(users).set({ name: profile.name }).where(ownRecord(scope.viewer))
}

function requirePersonName(name: string): void {
  const parsed = v.safeParse(PersonName, name)
  if (!parsed.success) throw badInput(parsed.issues)
}

async function askProvider(
  scope: Scope<"identity">,
  session: Pick<Session, "userId">,
  { fresh } = { fresh: false },
) {
  const person = await scope.identity.getUser(session.userId, { fresh })
  if (!person) throw new Forbidden("account-gone-at-provider")
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
