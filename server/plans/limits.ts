import type { Config } from "#server/config.ts"
import type { Session } from "#server/ports/session.ts"
import type { PlanLimits } from "./contract.ts"

/** The limits of the plan that the identity provider reports, evaluated at every request. */
export function limitsOf({ plans }: Pick<Config, "plans">, { plan }: Pick<Session, "plan">): PlanLimits {
  return plans[plan]
}
