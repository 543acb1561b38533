import { and, eq, isNull, or, sql } from "drizzle-orm"
import { users } from "#db/schema/users.ts"
import type { Config } from "#server/config.ts"
import { emailLater } from "#server/mail/mail.ts"
import type { Scope } from "#server/scope.ts"
import { ownRecord } from "./access.ts"
import { onboardingOf, type OnboardingStatus, type OnboardingStep, type PassableStep } from "./contract.ts"

/** The caller's current progress in onboarding. */
export async function getOnboardingStatus(scope: Scope<"db" | "viewer">): Promise<OnboardingStatus> {
  const [user] = await scope.db
    .select({ onboardingCompleted: users.onboardingCompleted, onboardingStep: users.onboardingStep })
    .from(users)
    .where(ownRecord(scope.viewer))
  return onboardingOf(user ?? { onboardingCompleted: null, onboardingStep: null })
}

/**
 * Advances the caller if `step` is their current one: a second tab that finishes it again changes
 * nothing.
 */
export async function finishOnboardingStep(scope: Scope<"db" | "viewer">, step: PassableStep): Promise<void> {
  await scope.db
    .update(users)
    .set({ onboardingStep: stepAfter(step) })
    .where(and(ownRecord(scope.viewer), isAtStep(step)))
}

/**
 * Returns the caller to `step` if their current step is the one after it. A completed onboarding
 * stays completed.
 */
export async function reopenOnboardingStep(scope: Scope<"db" | "viewer">, step: PassableStep): Promise<void> {
  await scope.db
    .update(users)
    .set({ onboardingStep: step })
    .where(and(ownRecord(scope.viewer), isAtStep(stepAfter(step))))
}

/**
 * Completes the onboarding of a caller who is at the last step. Of any number of calls exactly one
 * does so and queues the welcome email.
 */
export async function completeOnboarding(
  scope: Scope<"db" | "viewer"> & { config: Pick<Config, "origin"> },
): Promise<void> {
  await scope.db.transaction(async (db) => {
    const [user] = await db
      .update(users)
      .set({ onboardingCompleted: true, onboardingStep: "done" })
      .where(and(ownRecord(scope.viewer), isAtStep("first-steps")))
      .returning()
    if (user?.email) await emailLater({ db, config: scope.config }, "welcome", user)
  })
}

const unfinished = sql`${users.onboardingCompleted} is distinct from true`

function isAtStep(step: OnboardingStep) {
  const here = eq(users.onboardingStep, step)
  return and(unfinished, step === "welcome" ? or(here, isNull(users.onboardingStep)) : here)
}

function stepAfter(step: PassableStep): OnboardingStep {
  return step === "welcome" ? "profile" : "first-steps"
}
