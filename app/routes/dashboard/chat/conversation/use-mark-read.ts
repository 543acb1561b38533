import { useEffect } from "react"
import { useMutate } from "#app/realtime/use-live.tsx"
import { notificationOperations } from "#server/notifications/operations-contract.ts"
import { useUnread } from "#app/routes/dashboard/notifications/use-unread.ts"
import type { Bubble } from "./bubbles.ts"

/**
 * Marks the mentions of the user in this conversation as read while it is on the screen. Somebody who
 * has switched off notifications in the application has none to go by: then the messages are asked.
 */
export function useMarkRead(threadId: string, bubbles: readonly Bubble[]) {
  const mutate = useMutate()
  const unread = useUnread().find((notification) => notification.threadId === threadId)?._id
  const latest = bubbles.findLast(({ mentions }) => mentions.length > 0)?.id
  useEffect(() => {
    if (unread === undefined && latest === undefined) return
    const mark = () => {
      if (document.hidden) return
      document.removeEventListener("visibilitychange", mark)
      // Failing is harmless: the next visit marks them.
      mutate(notificationOperations.markRead, { threadId }).catch(() => {})
    }
    document.addEventListener("visibilitychange", mark)
    mark()
    return () => document.removeEventListener("visibilitychange", mark)
  }, [mutate, threadId, unread, latest])
}
