import { createContext, use, useEffect, useMemo, type ReactNode } from "react"
import { useLivePages } from "#live/react"
import { useSpace } from "#app/routes/dashboard/place/use-spaces.ts"
import type { ThreadRead, ThreadSummary } from "#server/chat/contract.ts"
import type { Loaded } from "#live/contract"

/** Conversations of which is known how far they are read. Those read before are shown as read. */
const MOST = 1000

/** How many messages of a conversation the user has not seen, since they joined. */
type CountUnread = (thread: ThreadSummary) => number

const UnreadContext = createContext<CountUnread>(() => 0)

export function useCountUnread(): CountUnread {
  return use(UnreadContext)
}

/** Follows how far the user has read the conversations of a space. Null for what is personal. */
export function ReadsProvider({
  reads,
  children,
}: {
  reads: Loaded<ThreadRead> | null
  children: ReactNode
}) {
  return reads === null ? children : <SpaceReads reads={reads}>{children}</SpaceReads>
}

function SpaceReads({ reads, children }: { reads: Loaded<ThreadRead>; children: ReactNode }) {
  const joinedAt = useSpace()?._creationTime ?? 0
  const { rows, hasMore, isLoading, loadMore } = useLivePages(reads)
  const loadsMore = hasMore && !isLoading && rows.length < MOST
  useEffect(() => {
    if (loadsMore) loadMore()
  }, [loadsMore, loadMore])

  const count = useMemo<CountUnread>(() => {
    const seen = new Map(rows.map(({ threadId, messageCount }) => [threadId, messageCount]))
    return ({ _id, messageCount, lastMessageAt }) => {
      const unseen = hasMore || lastMessageAt < joinedAt ? messageCount : 0
      return Math.max(0, messageCount - (seen.get(_id) ?? unseen))
    }
  }, [rows, hasMore, joinedAt])
  return <UnreadContext value={count}>{children}</UnreadContext>
}
