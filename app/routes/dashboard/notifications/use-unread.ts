import { useRouteLoaderData } from "react-router"
import { useLive } from "#app/realtime/use-live.tsx"
import type { Notification } from "#server/notifications/contract.ts"
import type { loader } from "#app/routes/dashboard/layout.tsx"

/** The latest notifications that the user has not read, a hundred at least if there are as many. */
export function useUnread(): readonly Notification[] {
  const data = useRouteLoaderData<typeof loader>("routes/dashboard/layout")
  if (!data) throw new Error("useUnread was called outside routes/dashboard/layout.tsx.")
  return useLive(data.unread)
}
