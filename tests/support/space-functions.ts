import { EVERYONE, MEMBERS, OWNER_ALONE, type Answers } from "./space-rights.ts"
import { declaredMutations } from "./declared-operations.ts"
import { THERE, type Standing } from "./space-content.ts"

export interface Call {
  answers: Answers
  args: Record<string, unknown>
}

/** Live queries about what is in a space, and those that list it beside other things. */
export const QUERIES: Record<string, Call> = queries(THERE)

function queries({ spaceId, threadId, fileId }: typeof THERE): Record<string, Call> {
  return {
    "files.list": { answers: MEMBERS, args: { spaceId } },
    "files.getFile": { answers: MEMBERS, args: { spaceId, fileId } },
    "files.listTrash": { answers: MEMBERS, args: { spaceId } },
    "files.listShares": { answers: MEMBERS, args: { spaceId, fileId } },
    "files.getRevision": { answers: MEMBERS, args: { spaceId } },
    "chat.listThreads": { answers: MEMBERS, args: { spaceId } },
    "chat.listMessages": { answers: MEMBERS, args: { spaceId, threadId } },
    "chat.listTurns": { answers: MEMBERS, args: { spaceId, threadId } },
    "chat.listChunks": { answers: MEMBERS, args: { spaceId, threadId } },
    "chat.listWaiting": { answers: MEMBERS, args: { spaceId, threadId } },
    "chat.listReads": { answers: MEMBERS, args: { spaceId } },
    "chat.listShares": { answers: MEMBERS, args: { spaceId, threadId } },
    "spaces.list": { answers: EVERYONE, args: {} },
    "spaces.listTrash": { answers: EVERYONE, args: {} },
    "spaces.members": { answers: MEMBERS, args: { spaceId } },
    "spaces.invitations": { answers: OWNER_ALONE, args: { spaceId } },
    "spaces.listReceived": { answers: EVERYONE, args: {} },
    "notifications.list": { answers: EVERYONE, args: {} },
    "notifications.listUnread": { answers: EVERYONE, args: {} },
  }
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
