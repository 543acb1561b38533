import { and, desc, eq, lt, sql } from "drizzle-orm"
import { fileUsage } from "#db/schema/files.ts"
import type { OperatorAct } from "#db/schema/operator.ts"
import { users, type User } from "#db/schema/users.ts"
import { Conflict, Forbidden, Gone } from "../errors.ts"
import type { Plan } from "../ports/identity.ts"
import type { Scope } from "../scope.ts"
import { setUserPlan } from "../users/users.ts"
import { recordAct } from "./history.ts"

const GONE = "This account no longer exists. Reload the page."

export type ListedPerson = Pick<User, "_id" | "_creationTime" | "clerkId" | "email" | "name"> & {
  plan: Plan
  /** Bytes that their files take. */
  used: number
}

/** Those whose address contains `q`, the newest first. `before` is the `_id` of the last one seen. */
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
        q === "" ? undefined : sql`strpos(lower(${users.email}), ${q.toLowerCase()}) > 0`,
        before === undefined ? undefined : lt(users._id, before),
      ),
    )
    .orderBy(desc(users._id))
    .limit(limit)
}

/**
 * Puts somebody on a plan, at the identity provider and in their record, with the email about it. Throws `Gone`, `Conflict` where they
 * are on it, `Forbidden` where people choose their plan at the provider.
 */
export async function changePlan(
  scope: Scope<"config" | "db" | "identity" | "viewer">,
  { userId, plan }: { userId: string; plan: Plan },
): Promise<OperatorAct> {
  const { identity } = scope
  if (!identity.setPlan)
    throw new Forbidden("Plans are managed by Clerk Billing. Change the plan in Clerk's dashboard.")
  const person = await findPerson(scope, userId)
  const previous = (await identity.getUser(userId))?.plan
  if (previous === undefined) throw new Gone(GONE)
  if (previous === plan && person.plan === plan)
    throw new Conflict(`${person.email} is on the ${plan} plan already.`)

  const detail = `from ${previous} to ${plan}`
  const recorded = await recordAct(scope, { act: "change-plan", subject: subjectOf(person), detail })
  await identity.setPlan(userId, plan)
  await setUserPlan(scope, userId, plan)
  return recorded
}

/**
 * Ends all sessions of a person, and the live connections opened with them. Their keys stay. Throws `Gone`, and `Forbidden` where sessions
 * are the provider's.
 */
export async function signOutEverywhere(
  scope: Scope<"db" | "identity" | "viewer">,
  { userId }: { userId: string },
): Promise<OperatorAct> {
  const { ownAccount } = scope.identity
  if (!ownAccount) throw new Forbidden("Sessions are managed by Clerk. End them in Clerk's dashboard.")
  const person = await findPerson(scope, userId)
  const recorded = await recordAct(scope, { act: "sign-out", subject: subjectOf(person), detail: null })
  await ownAccount.endOtherSessions(userId, null)
  return recorded
}

async function findPerson({ db }: Scope<"db">, userId: string): Promise<User> {
  const [person] = await db.select().from(users).where(eq(users.clerkId, userId))
  if (!person) throw new Gone(GONE)
  return person
}

function subjectOf({ clerkId, email }: User) {
  return { id: clerkId, email }
}
