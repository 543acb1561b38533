import { implement } from "#server/operations/implement.ts"
import { completeOnboarding, finishOnboardingStep } from "#server/users/onboarding.ts"
import { saveProfile } from "#server/users/users.ts"
import { accountPageOperations } from "./page-operations-contract.ts"
import { removePicture, savePicture } from "./picture.ts"

export const accountPageFunctions = implement(accountPageOperations, {
  async finishWelcome(scope) {
    await finishOnboardingStep(scope, "welcome")
    // Nobody who signed up with a name is asked for it again. Back from the next step leads there.
    if (scope.viewer.user.name?.trim()) await finishOnboardingStep(scope, "profile")
  },
  async finishProfile(scope, { name, picture }) {
    await saveProfile(scope, { name })
    if (picture) await savePicture(scope, picture)
    await finishOnboardingStep(scope, "profile")
  },
  removePicture: (scope) => removePicture(scope),
  async askFirst(scope, { question }) {
    await completeOnboarding(scope)
    return { question }
  },
})
