import { and, desc, eq, lt, ne, sql } from "drizzle-orm"
import { fileUsage } from "#db/schema/files.ts"
import type { OperatorChange } from "#db/schema/operator.ts"
import { FORMER_MEMBER, users, type User } from "#db/schema/users.ts"
import type { Recording } from "#server/accounts/security-notices.ts"
import { Conflict, Forbidden, Gone } from "#server/errors.ts"
import type { Identity } from "#server/ports/identity.ts"
import type { OwnAccount } from "#server/ports/own-account.ts"
import type { Plan } from "#server/ports/session.ts"
import type { Scope, Viewer } from "#server/scope.ts"
import { setUserPlan } from "#server/users/users.ts"
import { recordAccountChange } from "./history.ts"

/** Those of these people who have a second factor. */
export async function findFactorHolders(
  { identity }: Scope<"identity">,
  userIds: readonly string[],
): Promise<string[]> {
  return (await identity.ownAccount?.findFactorHolders(userIds)) ?? []
}

export type ListedPerson = Pick<User, "_id" | "_creationTime" | "clerkId" | "email" | "name"> & {
  plan: Plan
  /** Bytes of their files. */
  used: number
}

/**
 * People whose email address contains `q`, newest first. `before` is the `_id` of the last one
 * seen.
 */
export function listPeople(
  { db }: Scope<"db">,
  { q, before, limit }: { q: string; before?: string | undefined; limit: number },
): Promise<ListedPerson[]> {
  const { _id, _creationTime, clerkId, email, name } = users
  return db
    .select({
      _id,
      _creationTime,
      clerkId,
      email,
      name,
      plan: sql<Plan>`coalesce(${users.plan}, 'free')`,
      used: sql<number>`coalesce(${fileUsage.used}, 0)::float8`,
    })
    .from(users)
    .leftJoin(fileUsage, eq(fileUsage.userId, users._id))
    .where(
      and(
        ne(users._id, FORMER_MEMBER),
        q === "" ? undefined : sql`strpos(lower(${users.email}), ${q.toLowerCase()}) > 0`,
        before === undefined ? undefined : lt(users._id, before),
      ),
    )
    .orderBy(desc(users._id))
    .limit(limit)
}

/**
 * Changes a person's plan at the identity provider and in their record, queues the email about it
 * and records it in the history, all or nothing. `by` is null for a change made on the server
 * itself. Throws `Gone`, `Conflict` if the person is on the plan already, and `Forbidden` if people
 * choose their plan at the provider.
 */
export async function changePlan(
  scope: Recording & { identity: Pick<Identity, "setPlan"> },
  by: Viewer | null,
  { userId, plan }: { userId: string; plan: Plan },
): Promise<OperatorChange> {
  const { setPlan } = scope.identity
  if (!setPlan) throw new Forbidden("plans-at-clerk")
  return scope.db.transaction(async (transaction) => {
    const here = { ...scope, db: transaction }
    const account = await setPlan(transaction, { userId, plan })
    if (!account) throw new Gone("account-gone")
    const { previous, email } = account
    const isNew = await setUserPlan(here, userId, plan)
    if (previous === plan && !isNew) throw new Conflict("person-on-plan", { email, plan })
    const facts = { plans: { previous, next: plan } }
    const subject = { id: userId, email }
    return recordAccountChange(here, by, "plan-changed", { act: "change-plan", subject, facts })
  })
}

/**
 * Ends all sessions of a person and the live connections opened with them. API keys stay. Throws
 * `Gone`, and `Forbidden` if the provider manages sessions.
 */
export async function signOutEverywhere(
  scope: Recording & Scope<"identity" | "viewer">,
  { userId }: { userId: string },
): Promise<OperatorChange> {
  const { ownAccount } = scope.identity
  if (!ownAccount) throw new Forbidden("sessions-at-clerk")
  return scope.db.transaction(async (transaction) => {
    const here = { ...scope, db: transaction }
    const { clerkId: id, email } = await findPerson(here, userId)
    await ownAccount.endSessions(transaction, id)
    const change = { act: "sign-out", subject: { id, email }, facts: null } as const
    return recordAccountChange(here, scope.viewer, "sessions-ended", change)
  })
}

/**
 * A link with which a person chooses a new password; it works once, for an hour. Throws `Gone`, and
 * `Forbidden` for operators, whose links are only made on the server, and if the provider keeps the
 * passwords.
 */
export async function makePasswordLink(
  scope: Scope<"config" | "db" | "identity" | "log" | "viewer">,
  { userId }: { userId: string },
): Promise<{ email: string; link: string }> {
  const { config, identity, viewer } = scope
  if (!identity.makePasswordLink) throw new Forbidden("passwords-at-clerk")
  const person = await identity.getUser(userId)
  if (!person?.email) throw new Gone("account-gone")
  const { email } = person
  if (config.adminEmails.includes(email.toLowerCase()))
    throw new Forbidden("operator-password-link", { email })
  const change = { act: "make-password-link", subject: { id: userId, email }, facts: null } as const
  await recordAccountChange(scope, viewer, "password-link-created", change)
  const link = await identity.makePasswordLink(userId)
  if (link === null) throw new Gone("account-gone")
  return { email, link }
}

/**
 * Removes a person's second factor, so that their password alone signs them in, and records it. `by`
 * is null for a change made on the server itself. Throws `Gone`, `Conflict` if they have none, and
 * `Forbidden` if the provider manages second factors.
 */
export async function removeFactors(
  scope: Recording & { identity: { ownAccount?: Pick<OwnAccount, "removeFactors"> } },
  by: Viewer | null,
  { userId }: { userId: string },
): Promise<OperatorChange> {
  const { ownAccount } = scope.identity
  if (!ownAccount) throw new Forbidden("second-factors-at-clerk")
  return scope.db.transaction(async (transaction) => {
    const here = { ...scope, db: transaction }
    const account = await ownAccount.removeFactors(transaction, userId)
    if (!account) throw new Gone("account-gone")
    const { isChanged, email } = account
    if (!isChanged) throw new Conflict("person-without-second-factor", { email })
    const change = { act: "remove-factors", subject: { id: userId, email }, facts: null } as const
    return recordAccountChange(here, by, "second-factor-removed", change)
  })
}

async function findPerson({ db }: Scope<"db">, userId: string): Promise<User> {
  const [person] = await db.select().from(users).where(eq(users.clerkId, userId))
  if (!person) throw new Gone("account-gone")
  return person
}
