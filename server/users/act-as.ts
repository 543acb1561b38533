import type { User } from "#db/schema/users.ts"
import type { Viewer } from "#server/scope.ts"

/**
 * Somebody in whose name the server acts while they are not there themselves: with their rights and
 * their plan, and without a session that could be ended.
 */
export function actAs(user: User): Viewer {
  return {
    user,
    session: { userId: user.clerkId, sessionId: null, plan: user.plan ?? "free", via: "cookie" },
  }
}
