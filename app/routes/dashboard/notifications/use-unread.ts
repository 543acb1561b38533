import { useLive } from "#live/react"
import { useViewer } from "#app/routes/dashboard/viewer/use-viewer.ts"
import type { Notification } from "#server/notifications/contract.ts"

/** The latest notifications that the user has not read, a hundred at least if there are as many. */
export function useUnread(): readonly Notification[] {
  return useLive(useViewer().unread)
}
