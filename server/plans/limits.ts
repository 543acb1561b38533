import type { Config } from "#server/config.ts"
import type { Session } from "#server/ports/session.ts"
import type { PlanLimits } from "./contract.ts"

/**
 * What somebody may do by the plan that the identity provider says they are on, asked at every
 * request.
 */
export function limitsOf({ plans }: Pick<Config, "plans">, { plan }: Pick<Session, "plan">): PlanLimits {
  return plans[plan]
}
