import * as v from "valibot"
import { defineLiveQuery, defineMutation } from "#server/realtime/live-query.ts"
import type { Scope, Viewer } from "#server/scope.ts"
import { watchedUsers } from "#server/watched-tables.ts"
import { requireSession } from "./access.ts"
import { CreateOrUpdateUser, onboardingOf, PASSABLE_STEPS, RECORD_FIELDS, SaveProfile } from "./contract.ts"
import { completeOnboarding, finishOnboardingStep, reopenOnboardingStep } from "./onboarding.ts"
import { createOrUpdateUser, saveProfile } from "./users.ts"

/** The viewer's own record, by the identity provider's id. Refuses other people's. */
export const userByClerkId = defineLiveQuery({
  name: "users.getUserByClerkId",
  args: v.strictObject({ clerkId: CreateOrUpdateUser.entries.clerkId }),
  table: watchedUsers,
  range: ({ clerkId }, _viewer: Viewer) => ({ eq: { clerkId } }),
  authorize: async (viewer, { clerkId }) => clerkId === viewer.session.userId,
  fields: RECORD_FIELDS,
  answer: "row",
})

/** Whether onboarding is completed, and its current step. */
export const onboardingStatus = defineLiveQuery({
  name: "users.getOnboardingStatus",
  args: v.strictObject({}),
  table: watchedUsers,
  range: (_args, viewer: Viewer) => ({ eq: { clerkId: viewer.session.userId } }),
  fields: ["onboardingCompleted", "onboardingStep"],
  project: ({ _id, ...user }) => ({ _id, ...onboardingOf(user) }),
  answer: "row",
})

export const liveUsers = [userByClerkId, onboardingStatus]

const Step = v.strictObject({ step: v.picklist(PASSABLE_STEPS) })

export const userMutations = [
  defineMutation({
    name: "users.createOrUpdateUser",
    args: CreateOrUpdateUser,
    run: async (scope: Scope<"db" | "identity" | "config" | "viewer">, input) => {
      requireSession(scope.viewer)
      return (await createOrUpdateUser(scope, input))._id
    },
  }),
  defineMutation({
    name: "users.saveProfile",
    args: SaveProfile,
    run: async (scope: Scope<"db" | "identity" | "viewer">, profile) => {
      requireSession(scope.viewer)
      await saveProfile(scope, profile)
    },
  }),
  defineMutation({
    name: "users.finishOnboardingStep",
    args: Step,
    run: (scope: Scope<"db" | "viewer">, { step }) => finishOnboardingStep(scope, step),
  }),
  defineMutation({
    name: "users.reopenOnboardingStep",
    args: Step,
    run: (scope: Scope<"db" | "viewer">, { step }) => reopenOnboardingStep(scope, step),
  }),
  defineMutation({
    name: "users.completeOnboarding",
    args: v.strictObject({}),
    run: (scope: Scope<"db" | "config" | "viewer">) => completeOnboarding(scope),
  }),
]
