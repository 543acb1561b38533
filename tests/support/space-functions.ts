import { liveQueries } from "#server/live-functions.ts"
import { EVERYONE, MEMBERS, OWNER_ALONE, type Answers } from "./space-rights.ts"
import { declaredMutations, samplesFor } from "./declared-operations.ts"
import type { Standing } from "./space-content.ts"

export interface Call {
  answers: Answers
  args: Record<string, unknown>
}

/** Live queries about what is in a space, and those that list it beside other things. */
export function queries(userIds: Record<Standing, string>): Record<string, Call> {
  const samples = samplesFor(userIds)
  const asked = liveQueries.filter(({ name }) => !(name in OTHER_FUNCTIONS))
  return Object.fromEntries(
    asked.map(({ name, schema }) => {
      const fields = Object.keys("entries" in schema ? schema.entries : {}).filter(
        (field) => field in samples,
      )
      const args = Object.fromEntries(fields.map((field) => [field, samples[field]]))
      const usual = "spaceId" in args ? MEMBERS : EVERYONE
      return [name, { args, answers: name === "spaces.invitations" ? OWNER_ALONE : usual }]
    }),
  )
}

/** Mutations of what is in a space. `userIds` are the people's. */
export function mutations(userIds: Record<Standing, string>): Record<string, Call> {
  return declaredMutations(userIds, OTHER_FUNCTIONS)
}

/** Functions that no space is behind, each with why. */
export const OTHER_FUNCTIONS: Record<string, string> = {
  "users.getUserByClerkId": "the caller's record",
  "users.getOnboardingStatus": "the caller's record",
  "users.createOrUpdateUser": "the caller's record",
  "users.saveProfile": "the caller's record",
  "users.finishOnboardingStep": "the caller's record",
  "users.reopenOnboardingStep": "the caller's record",
  "users.completeOnboarding": "the caller's record",
  "devices.list": "the caller's browsers",
  "files.getUsage": "sums of what the caller pays for",
  "demo.listBoats": "the same for everybody",
  "chat.presence": "joined beside chat.listMessages, which is asked about",
  "spaces.presence": "joined beside spaces.members, which is asked about",
  "files.uploads": "joined beside files.list, which is asked about",
  "demo.audience": "the same for everybody",
  "maintenance.listClosures": "the same for everybody",
}
