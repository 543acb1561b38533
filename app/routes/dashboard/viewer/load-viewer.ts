import { loadLive } from "#server/http/live.ts"
import { liveUnread } from "#server/notifications/live.ts"
import { findStanding } from "#server/http/operator-scope.ts"
import type { FullScope } from "#server/scope.ts"
import { liveMemberships } from "#server/spaces/live.ts"
import { userByClerkId } from "#server/users/live.ts"
import { getProviderValues } from "#server/users/users.ts"

/**
 * What every page of the dashboard group knows of the signed-in user. `provider` is null if the
 * provider's browser code must be asked.
 */
export async function loadViewer(scope: FullScope) {
  const [[record, memberships, unread], provider] = await Promise.all([
    loadLive(
      scope,
      [userByClerkId, { clerkId: scope.viewer.session.userId }],
      [liveMemberships, {}],
      [liveUnread, {}],
    ),
    scope.identity.kind === "clerk" ? null : getProviderValues(scope),
  ])
  return {
    userId: scope.viewer.session.userId,
    record,
    memberships,
    unread,
    hasSpaces: scope.config.hasSpaces,
    provider,
    isOperator: ["operator", "needs-factor"].includes(await findStanding(scope)),
  }
}
