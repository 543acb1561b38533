import * as v from "valibot"
import { defineLiveQuery } from "#live/open"
import type { Viewer } from "#server/scope.ts"
import { watchedUsers } from "#db/schema/users.ts"
import { CreateOrUpdateUser, ONBOARDING_STEPS, onboardingOf, RECORD_FIELDS } from "./contract.ts"

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
