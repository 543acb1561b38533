import { desc, eq, lt, or, sql } from "drizzle-orm"
import * as v from "valibot"
import { operatorActs, type OperatorAct } from "#db/schema/operator.ts"
import type { User } from "#db/schema/users.ts"
import type { Scope } from "../scope.ts"

/**
 * Writes down what the viewer does as an operator. Call it in the transaction that does it; and before what no transaction of ours holds,
 * such as a change at the identity provider: an outage in between leaves it written and not done, and never the other way round.
 */
export async function recordAct(
  { db, viewer }: Scope<"db" | "viewer">,
  act: Pick<OperatorAct, "act" | "detail"> & { subject: { id: string | null; email: string } | null },
): Promise<OperatorAct> {
  const [recorded] = await db
    .insert(operatorActs)
    .values({
      act: act.act,
      operatorId: viewer.session.userId,
      operatorEmail: viewer.user.email,
      subjectId: act.subject?.id ?? null,
      subjectEmail: act.subject?.email ?? null,
      detail: act.detail,
    })
    .returning()
  if (!recorded) throw new Error("What an operator did did not come back from the database.")
  return recorded
}

/** The newest first. `before` is the `_id` of the last one seen. */
export function listActs(
  { db }: Scope<"db">,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<OperatorAct[]> {
  return db
    .select()
    .from(operatorActs)
    .where(before === undefined ? undefined : lt(operatorActs._id, before))
    .orderBy(desc(operatorActs._id))
    .limit(limit)
}

/** Null for what is none. */
export async function findAct({ db }: Scope<"db">, id: string): Promise<OperatorAct | null> {
  if (!v.is(v.pipe(v.string(), v.uuid()), id)) return null
  const [act] = await db.select().from(operatorActs).where(eq(operatorActs._id, id))
  return act ?? null
}

/** Takes a person out of what operators did: part of deleting their account. That it was done, and when, stays. */
export async function forgetInActs(
  { db }: Scope<"db">,
  { clerkId, email }: Pick<User, "clerkId" | "email">,
): Promise<void> {
  const address = email.toLowerCase()
  await db
    .update(operatorActs)
    .set({ operatorId: null, operatorEmail: null })
    .where(or(eq(operatorActs.operatorId, clerkId), eq(sql`lower(${operatorActs.operatorEmail})`, address)))
  await db
    .update(operatorActs)
    .set({ subjectId: null, subjectEmail: null })
    .where(or(eq(operatorActs.subjectId, clerkId), eq(sql`lower(${operatorActs.subjectEmail})`, address)))
}
