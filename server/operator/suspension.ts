import { and, eq, inArray } from "drizzle-orm"
import { chatTurns, chatWaiting } from "#db/schema/chat.ts"
import type { OperatorChange } from "#db/schema/operator.ts"
import { users } from "#db/schema/users.ts"
import { requestStopOfReply } from "#server/chat/stop.ts"
import type { Recording } from "#server/accounts/security-notices.ts"
import type { Config } from "#server/config.ts"
import { Conflict, Forbidden, Gone } from "#server/errors.ts"
import type { Identity } from "#server/ports/identity.ts"
import type { Scope, Viewer } from "#server/scope.ts"
import { recordAccountChange } from "./history.ts"

type Suspending = Recording &
  Scope<"announce"> & {
    config: Pick<Config, "adminEmails">
    identity: Pick<Identity, "suspension">
  }

/**
 * Keeps a person out, in every process from the commit on: their sessions, live connections,
 * running requests and replies end, and their API keys open nothing. Nothing of theirs is deleted.
 * `by` is null if it is done on the server itself. Throws `Gone`, `Conflict` if the person is
 * suspended already or the last operator, and `Forbidden` for oneself, for an operator who has been
 * suspended in the meantime, and if the provider suspends people itself.
 */
export function suspendPerson(
  scope: Suspending,
  by: Viewer | null,
  { userId }: { userId: string },
): Promise<OperatorChange> {
  const suspension = requireSuspension(scope)
  if (by?.session.userId === userId) throw new Forbidden("suspending-oneself")
  return scope.db.transaction(async (db) => {
    const here = { ...scope, db }
    const operators = await suspension.lockHolders(db, scope.config.adminEmails)
    if (by && !operators.includes(by.session.userId)) throw new Forbidden("no-longer-operator")
    if (operators.length === 1 && operators.includes(userId)) throw new Conflict("suspending-last-operator")
    const account = await suspension.set(db, { userId, suspended: true })
    if (!account) throw new Gone("account-gone")
    const { isChanged, email } = account
    if (!isChanged) throw new Conflict("person-suspended", { email })
    await stopReplies(here, userId)
    const subject = { id: userId, email }
    return recordAccountChange(here, by, "suspended", { act: "suspend", subject, facts: null })
  })
}

/**
 * Lets a suspended person in again. They sign in as before, and their API keys work again. Throws
 * as `suspendPerson` does.
 */
export function allowPerson(
  scope: Suspending,
  by: Viewer | null,
  { userId }: { userId: string },
): Promise<OperatorChange> {
  const suspension = requireSuspension(scope)
  return scope.db.transaction(async (db) => {
    const account = await suspension.set(db, { userId, suspended: false })
    if (!account) throw new Gone("account-gone")
    const { isChanged, email } = account
    if (!isChanged) throw new Conflict("person-allowed", { email })
    const subject = { id: userId, email }
    return recordAccountChange({ ...scope, db }, by, "allowed", { act: "allow", subject, facts: null })
  })
}

function requireSuspension({ identity }: Pick<Suspending, "identity">) {
  if (identity.suspension) return identity.suspension
  throw new Forbidden("accounts-at-clerk")
}

async function stopReplies(scope: Scope<"announce" | "db">, userId: string) {
  const running = await scope.db
    .select({ _id: chatTurns._id })
    .from(chatTurns)
    .innerJoin(users, eq(users._id, chatTurns.userId))
    .where(and(eq(users.clerkId, userId), eq(chatTurns.status, "running")))
  for (const { _id } of running) await requestStopOfReply(scope, _id)
  const person = scope.db.select({ _id: users._id }).from(users).where(eq(users.clerkId, userId))
  await scope.db.delete(chatWaiting).where(inArray(chatWaiting.userId, person))
}
