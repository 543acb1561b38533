import type { Plan } from "#server/ports/session.ts"
import type { PlanLimits } from "./contract.ts"

/** The limits of the plan that the identity provider reports, evaluated at every request. */
export function limitsOf(
  { plans }: { plans: Record<Plan, PlanLimits> },
  { plan }: { plan: Plan },
): PlanLimits {
  return plans[plan]
}
