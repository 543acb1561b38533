import { desc, eq, lt } from "drizzle-orm"
import * as v from "valibot"
import { operatorActs, type OperatorChange } from "#db/schema/operator.ts"
import type { SecurityEvent } from "#server/accounts/security-contract.ts"
import { recordSecurityEvent } from "#server/accounts/security-log.ts"
import type { Recording } from "#server/accounts/security-notices.ts"
import type { Scope, Viewer } from "#server/scope.ts"

/**
 * Records a change of somebody's account in the history and in their security log. Call it in the
 * transaction that makes the change. `by` is null for a change made on the server itself.
 */
export async function recordAccountChange(
  scope: Recording,
  by: Viewer | null,
  event: SecurityEvent["event"],
  change: Pick<OperatorChange, "act" | "facts"> & { subject: { id: string; email: string } },
): Promise<OperatorChange> {
  const recorded = await recordChange(scope, by, change)
  const facts = by ? {} : ({ onServer: true } as const)
  const userId = change.subject.id
  await recordSecurityEvent(scope, { userId, event, facts, from: null, operatorActId: recorded._id })
  return recorded
}

/**
 * Records a change in the history. Call it in the transaction that makes the change. `by` is null
 * for a change made on the server itself.
 */
export async function recordChange(
  { db }: Scope<"db">,
  by: Viewer | null,
  { act, subject, facts }: Pick<OperatorChange, "act" | "facts"> & { subject: Subject | null },
): Promise<OperatorChange> {
  const [recorded] = await db
    .insert(operatorActs)
    .values({
      act,
      operatorId: by?.session.userId ?? null,
      operatorEmail: by?.user.email ?? null,
      subjectId: subject?.id ?? null,
      subjectEmail: subject?.email ?? null,
      facts: by ? facts : { ...facts, onServer: true },
    })
    .returning()
  if (!recorded) throw new Error("The database returned no row for the recorded change.")
  return recorded
}

interface Subject {
  id: string | null
  email: string
}

/** Newest first. `before` is the `_id` of the last one seen. */
export function listActs(
  { db }: Scope<"db">,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<OperatorChange[]> {
  return db
    .select()
    .from(operatorActs)
    .where(before === undefined ? undefined : lt(operatorActs._id, before))
    .orderBy(desc(operatorActs._id))
    .limit(limit)
}

/** Null if there is no such entry. */
export async function findChange({ db }: Scope<"db">, id: string): Promise<OperatorChange | null> {
  if (!v.is(v.pipe(v.string(), v.uuid()), id)) return null
  const [act] = await db.select().from(operatorActs).where(eq(operatorActs._id, id))
  return act ?? null
}
