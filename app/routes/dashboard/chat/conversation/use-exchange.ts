import { useLingui } from "@lingui/react/macro"
import { useEffect, useMemo, useState } from "react"
import { useRevalidator } from "react-router"
import { useIsLive } from "#live/react"
import type { LiveChunk } from "#server/chat/contract.ts"
import { chatOperations } from "#server/chat/operations-contract.ts"
import type { LiveMessage, LiveTurn } from "#server/chat/read-operations.ts"
import { urlOf } from "#server/operations/contract.ts"
import { isReachable } from "./is-reachable.ts"
import { createBubbles, isStored, type Bubble } from "./bubbles.ts"
import { useExchangeOf, usePendingMessages } from "#app/routes/dashboard/chat/composer/pending-messages.tsx"

/** Milliseconds between two polls for a reply that is being generated without a live connection. */
const LOOK_AGAIN = 1_000

interface Records {
  messages: readonly LiveMessage[]
  turns: readonly LiveTurn[]
  chunks: readonly LiveChunk[]
}

/** The conversation as its records have it, with the message that is being sent. */
export function useExchange(threadId: string, { messages, turns, chunks }: Records) {
  const questions = usePendingMessages()
  const { pending, refusal, queued, editing } = useExchangeOf(threadId)
  const [join] = useState(createBubbles)
  const bubbles = useMemo(
    () => join({ messages, turns, chunks }, pending, queued),
    [join, messages, turns, chunks, pending, queued],
  )
  const reply = bubbles.findLast(({ role }) => role === "assistant")
  const isReplying = reply?.status === "running"

  useEffect(() => {
    const sought = pending ?? questions.doubted(threadId)
    if (sought && isStored({ messages, turns }, sought)) questions.settle(threadId, sought.requestId)
  }, [pending, messages, turns, questions, threadId])

  useEffect(() => {
    for (const { requestId } of queued)
      if (isStored({ messages, turns }, { requestId, supersedes: null }))
        questions.settleQueued(threadId, requestId)
  }, [queued, messages, turns, questions, threadId])

  const { revalidate } = useRevalidator()
  const mustLook = !useIsLive() && (isReplying || pending?.isTaken === true)
  useEffect(() => {
    if (!mustLook) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    const look = async () => {
      // A server that is restarting has no live connections either, and a loader that fails would
      // replace the page by an error.
      if ((await isReachable(urlOf(chatOperations.getThread, { threadId }))) && !isOver) await revalidate()
      if (!isOver) timer = setTimeout(() => void look(), LOOK_AGAIN)
    }
    void look()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [mustLook, revalidate, threadId])

  return {
    bubbles,
    isReplying,
    refusal,
    editing,
    announcement: useAnnouncement(threadId, reply),
  }
}

/** Announces the start and the end of a reply to screen readers, but not its growing text. */
function useAnnouncement(threadId: string, reply: Bubble | undefined) {
  const { t } = useLingui()
  const questions = usePendingMessages()
  const [hasAnswered, setHasAnswered] = useState(false)
  const isReplying = reply?.status === "running"
  if (isReplying && !hasAnswered) setHasAnswered(true)
  // The first reply of a new conversation may have ended before its page is shown. In an effect,
  // because screen readers announce only what changes in an element that is already there.
  useEffect(() => {
    // oxlint-disable-next-line react/set-state-in-effect
    if (questions.markShown(threadId)) setHasAnswered(true)
  }, [questions, threadId])

  if (isReplying) return t`The reply is being written.`
  if (!hasAnswered || !reply) return ""
  return reply.status === "completed" && !reply.shortfall
    ? t`The reply is complete.`
    : t`The reply ended early.`
}
