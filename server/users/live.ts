import * as v from "valibot"
import { defineLiveQuery, defineMutation } from "#server/realtime/live-query.ts"
import type { Scope, Viewer } from "#server/scope.ts"
import { watchedUsers } from "#server/watched-tables.ts"
import { requireSession } from "./access.ts"
import {
  CreateOrUpdateUser,
  ONBOARDING_STEPS,
  onboardingOf,
  PASSABLE_STEPS,
  RECORD_FIELDS,
  SaveProfile,
} from "./contract.ts"
import { completeOnboarding, finishOnboardingStep, reopenOnboardingStep } from "./onboarding.ts"
import { createOrUpdateUser, saveProfile } from "./users.ts"

export const userByClerkId = defineLiveQuery({
  name: "users.getUserByClerkId",
  description: "The caller's own record, by the identity provider's id. Other people's are refused.",
  args: v.strictObject({ clerkId: CreateOrUpdateUser.entries.clerkId }),
  table: watchedUsers,
  range: ({ clerkId }, _viewer: Viewer) => ({ eq: { clerkId } }),
  authorize: async (viewer, { clerkId }) => clerkId === viewer.session.userId,
  fields: RECORD_FIELDS,
  answer: "row",
})

export const onboardingStatus = defineLiveQuery({
  name: "users.getOnboardingStatus",
  description: "Whether the caller has completed onboarding, and their current step.",
  args: v.strictObject({}),
  table: watchedUsers,
  range: (_args, viewer: Viewer) => ({ eq: { clerkId: viewer.session.userId } }),
  fields: ["onboardingCompleted", "onboardingStep"],
  project: ({ _id, ...user }) => ({ _id, ...onboardingOf(user) }),
  row: v.strictObject({
    _id: v.pipe(v.string(), v.uuid()),
    completed: v.boolean(),
    step: v.picklist(ONBOARDING_STEPS),
  }),
  answer: "row",
})

export const liveUsers = [userByClerkId, onboardingStatus]

const NO_KEY = { forbidden: "The caller uses an API key." }

const Step = v.strictObject({ step: v.picklist(PASSABLE_STEPS) })

export const userMutations = [
  defineMutation({
    name: "users.createOrUpdateUser",
    description:
      "Writes the caller's record from the identity provider's values, and returns its id. The values must be those that the provider reports.",
    args: CreateOrUpdateUser,
    value: v.pipe(v.string(), v.uuid()),
    refusals: {
      forbidden: "The caller uses an API key, it is not their record, or the provider reports other values.",
    },
    run: async (scope: Scope<"db" | "identity" | "config" | "viewer">, input) => {
      requireSession(scope.viewer)
      return (await createOrUpdateUser(scope, input))._id
    },
  }),
  defineMutation({
    name: "users.saveProfile",
    description: "Stores the caller's name, at the identity provider as well.",
    args: SaveProfile,
    refusals: { forbidden: "The caller uses an API key, or their account no longer exists." },
    run: async (scope: Scope<"db" | "identity" | "viewer">, profile) => {
      requireSession(scope.viewer)
      await saveProfile(scope, profile)
    },
  }),
  defineMutation({
    name: "users.finishOnboardingStep",
    description: "Advances the caller to the next step if this is their current one; otherwise does nothing.",
    args: Step,
    refusals: NO_KEY,
    run: (scope: Scope<"db" | "viewer">, { step }) => {
      requireSession(scope.viewer)
      return finishOnboardingStep(scope, step)
    },
  }),
  defineMutation({
    name: "users.reopenOnboardingStep",
    description: "Returns the caller to this step if they are at the one after it; otherwise does nothing.",
    args: Step,
    refusals: NO_KEY,
    run: (scope: Scope<"db" | "viewer">, { step }) => {
      requireSession(scope.viewer)
      return reopenOnboardingStep(scope, step)
    },
  }),
  defineMutation({
    name: "users.completeOnboarding",
    description:
      "Completes onboarding if the caller is at the last step, and sends the welcome email; otherwise does nothing.",
    args: v.strictObject({}),
    refusals: NO_KEY,
    run: (scope: Scope<"db" | "config" | "viewer">) => {
      requireSession(scope.viewer)
      return completeOnboarding(scope)
    },
  }),
]
