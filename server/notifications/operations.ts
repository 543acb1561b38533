import { domain } from "#server/operations/implement.ts"
import { markRead } from "./notifications.ts"
import { notificationOperations } from "./operations-contract.ts"

export const notificationsDomain = domain(notificationOperations, { markRead })
