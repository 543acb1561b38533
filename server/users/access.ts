import { eq } from "drizzle-orm"
import { users } from "#db/schema/users.ts"
import { Forbidden } from "#server/errors.ts"
import type { Viewer } from "#server/scope.ts"

/** The caller's own record: nobody sees or changes another person's. */
export const ownRecord = (viewer: Pick<Viewer, "session">) => eq(users.clerkId, viewer.session.userId)

/**
 * Throws `Forbidden` for a program with an API key: a key opens the application, not the account.
 */
export function requireSession({ session }: Pick<Viewer, "session">): void {
  if (session.via === "api-key") throw new Forbidden("session-needed")
}
