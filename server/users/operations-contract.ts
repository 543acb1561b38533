import * as v from "valibot"
import { operations } from "#server/operations/contract.ts"
import { CreateOrUpdateUser, PASSABLE_STEPS, SaveProfile } from "./contract.ts"

const Step = v.strictObject({ step: v.picklist(PASSABLE_STEPS) })

export const userOperations = operations("users", { tag: "Users" })({
  createOrUpdateUser: {
    about:
      "Writes the caller's record from the identity provider's values, and returns its id. The values must be those that the provider reports.",
    may: "session",
    input: CreateOrUpdateUser,
    output: v.pipe(v.string(), v.uuid()),
    refuses: { forbidden: ["user-foreign", "account-differs-at-provider"] },
  },
  saveProfile: {
    about: "Stores the caller's name, at the identity provider as well.",
    may: "session",
    input: SaveProfile,
    refuses: { forbidden: ["account-gone-at-provider"] },
  },
  finishOnboardingStep: {
    about: "Advances the caller to the next step if this is their current one; otherwise does nothing.",
    may: "session",
    input: Step,
  },
  reopenOnboardingStep: {
    about: "Returns the caller to this step if they are at the one after it; otherwise does nothing.",
    may: "session",
    input: Step,
  },
  completeOnboarding: {
    about:
      "Completes onboarding if the caller is at the last step, and sends the welcome email; otherwise does nothing.",
    may: "session",
    input: v.strictObject({}),
  },
})
