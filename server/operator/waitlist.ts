import type { OperatorChange } from "#db/schema/operator.ts"
import { Conflict } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { inviteFromWaitlist } from "#server/waitlist/waitlist.ts"
import { recordChange } from "./history.ts"

/**
 * Emails an invitation to an address, on the waitlist or not. Throws `Conflict` if theirs has been
 * used.
 */
export function invite(
  scope: Scope<"config" | "db" | "viewer">,
  { email }: { email: string },
): Promise<OperatorChange> {
  return scope.db.transaction(async (db) => {
    const here = { ...scope, db }
    if ((await inviteFromWaitlist(here, email)) === null) throw new Conflict("person-invited", { email })
    return recordChange(here, here.viewer, { act: "invite", subject: { id: null, email }, facts: null })
  })
}
