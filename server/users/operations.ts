import { implement } from "#server/operations/implement.ts"
import { completeOnboarding, finishOnboardingStep, reopenOnboardingStep } from "./onboarding.ts"
import { userOperations } from "./operations-contract.ts"
import { createOrUpdateUser, saveProfile } from "./users.ts"

export const userFunctions = implement(userOperations, {
  createOrUpdateUser: async (scope, person) => (await createOrUpdateUser(scope, person))._id,
  saveProfile: (scope, profile) => saveProfile(scope, profile),
  finishOnboardingStep: (scope, { step }) => finishOnboardingStep(scope, step),
  reopenOnboardingStep: (scope, { step }) => reopenOnboardingStep(scope, step),
  completeOnboarding: (scope) => completeOnboarding(scope),
})
