import { chatChannels, liveChat } from "./chat/live.ts"
import { chatFunctions } from "./chat/operations.ts"
import { demoChannels, liveDemo } from "./demo/live.ts"
import { liveDevices } from "./devices/live.ts"
import { fileChannels, liveFiles } from "./files/live.ts"
import { fileFunctions } from "./files/operations.ts"
import { liveMaintenance } from "./maintenance/live.ts"
import { liveNotificationLists } from "./notifications/live.ts"
import { notificationFunctions } from "./notifications/operations.ts"
import type { Domain } from "./operations/domain.ts"
import { liveSpaces, spaceChannels } from "./spaces/live.ts"
import { spaceFunctions } from "./spaces/operations.ts"
import { liveUsers } from "./users/live.ts"
import { userFunctions } from "./users/operations.ts"

/** What each domain offers to pages and programs. A new domain is a line here. */
export const domains: readonly Domain[] = [
  { name: "users", scope: "unlimited", queries: liveUsers, operations: userFunctions },
  { name: "devices", scope: "unlimited", queries: liveDevices },
  {
    name: "files",
    scope: "files",
    queries: liveFiles,
    operations: fileFunctions,
    channels: fileChannels,
  },
  {
    name: "chat",
    scope: "chat",
    queries: liveChat,
    operations: chatFunctions,
    channels: chatChannels,
  },
  {
    name: "spaces",
    scope: "spaces",
    queries: liveSpaces,
    operations: spaceFunctions,
    channels: spaceChannels,
  },
  {
    name: "notifications",
    scope: "spaces",
    queries: liveNotificationLists,
    operations: notificationFunctions,
  },
  // Everybody sees the same, visitors too.
  { name: "demo", scope: "any", queries: liveDemo, channels: demoChannels },
  { name: "maintenance", scope: "any", queries: liveMaintenance },
]
