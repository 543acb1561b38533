import { TooMany } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"

/** Emails that people have sent in an hour. Several people share a network. */
export const MOST_EMAILS = { ofPerson: 30, ofNetwork: 120 }

/** Counts an email to an address of the viewer's choice. Throws `TooMany`. */
export function countEmail({ limiters, viewer }: Scope<"limiters" | "viewer">, network: string): void {
  const spender = { userId: viewer.session.userId, network }
  if (!limiters.emails.check(spender, MOST_EMAILS).success)
    throw new TooMany("too-many-emails", { most: MOST_EMAILS.ofPerson })
}
