import { implement } from "#server/operations/implement.ts"
import { listNotifications, markRead } from "./notifications.ts"
import { notificationOperations } from "./operations-contract.ts"

export const notificationFunctions = implement(notificationOperations, {
  list: listNotifications,
  markRead,
})
