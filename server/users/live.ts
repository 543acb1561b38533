import * as v from "valibot"
import type { Viewer } from "#server/scope.ts"
import { defineLiveQuery } from "#server/realtime/live-query.ts"
import { watchedUsers } from "#server/watched-tables.ts"
import { ClerkId, onboardingOf } from "./contract.ts"

/** One's own record, by the identity provider's id. Asked for another person's it is not there. */
export const userByClerkId = defineLiveQuery({
  name: "users.getUserByClerkId",
  args: v.strictObject({ clerkId: ClerkId }),
  table: watchedUsers,
  range: ({ clerkId }) => ({ eq: { clerkId } }),
  authorize: async (viewer: Viewer, { clerkId }) => clerkId === viewer.session.userId,
  answer: "row",
})

/** Whether onboarding is completed, and the step at which it stands. */
export const onboardingStatus = defineLiveQuery({
  name: "users.getOnboardingStatus",
  args: v.strictObject({}),
  table: watchedUsers,
  range: (_args, viewer: Viewer) => ({ eq: { clerkId: viewer.session.userId } }),
  fields: ["onboardingCompleted", "onboardingStep"],
  project: ({ _id, ...user }) => ({ _id, ...onboardingOf(user) }),
  answer: "row",
})
