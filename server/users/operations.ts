import * as v from "valibot"
import { watchedUsers } from "#db/schema/users.ts"
import { operations } from "#server/operations/contract.ts"
import { implement } from "#server/operations/implement.ts"
import { rowEntries } from "#live/open"
import { CreateOrUpdateUser, RECORD_FIELDS } from "./contract.ts"
import { completeOnboarding, finishOnboardingStep, reopenOnboardingStep } from "./onboarding.ts"
import { userOperations } from "./operations-contract.ts"
import { createOrUpdateUser, saveProfile } from "./users.ts"

const changes = implement(userOperations, {
  createOrUpdateUser: async (scope, person) => (await createOrUpdateUser(scope, person))._id,
  saveProfile: (scope, profile) => saveProfile(scope, profile),
  finishOnboardingStep: (scope, { step }) => finishOnboardingStep(scope, step),
  reopenOnboardingStep: (scope, { step }) => reopenOnboardingStep(scope, step),
  completeOnboarding: (scope) => completeOnboarding(scope),
})

const UserRow: v.GenericSchema = v.strictObject({
  ...rowEntries(watchedUsers, RECORD_FIELDS),
  onboardingStep: v.nullable(v.string()),
})

const sync = operations("users", { tag: "Users" })({
  sync: {
    about:
      "Brings your record up to date with the identity provider. Open pages call it when the two differ. It must say what the provider says.",
    may: "session",
    input: CreateOrUpdateUser,
    output: UserRow,
    refuses: userOperations.createOrUpdateUser.refuses,
    http: { at: "POST /api/users/sync", id: "syncUser" },
    httpOnly: true,
  },
})

export const userFunctions = [
  ...changes,
  ...implement(sync, {
    async sync(scope, person) {
      const {
        language: _language,
        notifiesInApp: _inApp,
        notifiesByEmail: _byEmail,
        ...record
      } = await createOrUpdateUser(scope, person)
      return record
    },
  }),
]
