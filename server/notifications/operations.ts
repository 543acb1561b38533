import { implement } from "#server/operations/implement.ts"
import { markRead } from "./notifications.ts"
import { notificationOperations } from "./operations-contract.ts"

export const notificationFunctions = implement(notificationOperations, { markRead })
