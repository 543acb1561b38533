import { chatChannels, chatMutations, liveChat } from "./chat/live.ts"
import { demoChannels, liveDemo } from "./demo/live.ts"
import { liveDevices } from "./devices/live.ts"
import { fileChannels, fileMutations, liveFiles } from "./files/live.ts"
import { liveMaintenance } from "./maintenance/live.ts"
import { liveNotificationLists, notificationMutations } from "./notifications/live.ts"
import type { KeyScope } from "./ports/identity-contract.ts"
import type { NamedCall } from "./realtime/options.ts"
import { liveSpaces, spaceMutations } from "./spaces/live.ts"
import { liveUsers, userMutations } from "./users/live.ts"

/** The live queries and mutations that socket clients can use. */
export const liveQueries = [
  ...liveUsers,
  ...liveDevices,
  ...liveFiles,
  ...liveChat,
  ...liveSpaces,
  ...liveNotificationLists,
  ...liveDemo,
  ...liveMaintenance,
]
export const liveMutations = [
  ...userMutations,
  ...fileMutations,
  ...chatMutations,
  ...spaceMutations,
  ...notificationMutations,
]

/** Channels for what is not stored, each beside one of the queries. */
export const liveChannels = [...chatChannels, ...fileChannels, ...demoChannels]

/**
 * The scope that a limited API key needs for a call; null for those open to every key, such as its
 * owner's record.
 */
export function neededScope({ kind, name }: NamedCall): KeyScope | null {
  const [domain] = name.split(".")
  if (domain === "chat" || domain === "spaces") return domain
  if (domain === "notifications") return "spaces"
  if (domain !== "files") return null
  return kind === "query" ? "files:read" : "files:write"
}
