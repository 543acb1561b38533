import type { OperatorChange } from "#db/schema/operator.ts"
import { Conflict, Gone } from "#server/errors.ts"
import { dropEmail, findUnsent, retryParked } from "#server/mail/outbox.ts"
import type { Scope } from "#server/scope.ts"
import { recordChange } from "./history.ts"

type Acting = Scope<"db" | "viewer">

/**
 * Gives a parked email its full number of attempts again. Throws `Gone`, and `Conflict` if it is
 * not parked or has expired.
 */
export function retryEmail(scope: Acting, id: string): Promise<OperatorChange> {
  return withEmail(scope, id, "retry-letter", async (here) => {
    if ((await retryParked(here, [id])) === 0) throw new Conflict("email-not-parked")
  })
}

/** Resends all parked emails that have not expired. Throws `Conflict` if there are none. */
export function retryAllEmails(scope: Acting): Promise<OperatorChange> {
  return scope.db.transaction(async (db) => {
    const retried = await retryParked({ db })
    if (retried === 0) throw new Conflict("no-email-parked")
    const facts = { emails: retried }
    return recordChange({ db }, scope.viewer, { act: "retry-letter", subject: null, facts })
  })
}

/** Throws `Gone` for an email that was sent, `Conflict` for one that is being sent. */
export function dropUnsentEmail(scope: Acting, id: string): Promise<OperatorChange> {
  return withEmail(scope, id, "drop-letter", async (here) => {
    if (!(await dropEmail(here, id))) throw new Conflict("email-being-sent")
  })
}

function withEmail(
  scope: Acting,
  id: string,
  act: "retry-letter" | "drop-letter",
  change: (scope: Acting) => Promise<void>,
): Promise<OperatorChange> {
  return scope.db.transaction(async (db) => {
    const here = { ...scope, db }
    const message = await findUnsent(here, id)
    if (!message) throw new Gone("email-gone")
    await change(here)
    const subject = { id: message.userId, email: message.recipient }
    return recordChange(here, here.viewer, { act, subject, facts: { emailKind: message.kind } })
  })
}
