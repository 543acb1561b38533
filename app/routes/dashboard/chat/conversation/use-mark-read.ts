import { useEffect, useEffectEvent } from "react"
import { useMutate } from "#live/react"
import type { ThreadSummary } from "#server/chat/contract.ts"
import { chatOperations } from "#server/chat/operations-contract.ts"
import { notificationOperations } from "#server/notifications/operations-contract.ts"
import { useCountUnread } from "#app/routes/dashboard/chat/threads/reads.tsx"
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
  const isWanted = unread !== undefined || latest !== undefined
  useWhenSeen(isWanted ? `${threadId} ${unread} ${latest}` : null, () =>
    mutate(notificationOperations.markRead, { threadId }),
  )
}

/** Stores that a conversation of a space has been read while it is on the screen. */
export function useMarkThreadRead(thread: ThreadSummary) {
  const mutate = useMutate()
  const { _id: threadId } = thread
  const unread = useCountUnread()(thread)
  useWhenSeen(unread === 0 ? null : `${threadId} ${unread}`, () =>
    mutate(chatOperations.markRead, { threadId }),
  )
}

/** Calls `mark` once for each `cause`, as soon as the page is on the screen. */
function useWhenSeen(cause: string | null, mark: () => Promise<unknown>) {
  // Failing is harmless: the next message or visit marks it.
  const act = useEffectEvent(() => void mark().catch(() => {}))
  useEffect(() => {
    if (cause === null) return
    const see = () => {
      if (document.hidden) return
      document.removeEventListener("visibilitychange", see)
      act()
    }
    document.addEventListener("visibilitychange", see)
    see()
    return () => document.removeEventListener("visibilitychange", see)
  }, [cause])
}
