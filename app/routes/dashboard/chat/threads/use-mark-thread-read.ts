import { useEffect } from "react"
import { useMutate } from "#app/realtime/use-live.tsx"
import type { ThreadSummary } from "#server/chat/contract.ts"
import { chatOperations } from "#server/chat/operations-contract.ts"
import { useCountUnread } from "./reads.tsx"

/** Stores that a conversation of a space has been read while it is on the screen. */
export function useMarkThreadRead(thread: ThreadSummary) {
  const mutate = useMutate()
  const { _id: threadId } = thread
  const unread = useCountUnread()(thread)
  useEffect(() => {
    if (unread === 0) return
    const mark = () => {
      if (document.hidden) return
      document.removeEventListener("visibilitychange", mark)
      // Failing is harmless: the next message or visit marks it.
      mutate(chatOperations.markRead, { threadId }).catch(() => {})
    }
    document.addEventListener("visibilitychange", mark)
    mark()
    return () => document.removeEventListener("visibilitychange", mark)
  }, [mutate, threadId, unread])
}
