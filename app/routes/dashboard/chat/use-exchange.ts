import { useChat } from "@ai-sdk/react"
import { useEffect, useState } from "react"
import { useRevalidator } from "react-router"
import type { ChatUIMessage, Entry } from "#server/chat/contract.ts"
import { useIsLive } from "#app/realtime/use-live.tsx"
import { AskRefused, send } from "./ask.ts"
import { useConversations } from "./conversations.tsx"
import { findStoredStatus, mergeExchange } from "./exchange.ts"

/** Milliseconds between two looks at an answer that is given elsewhere, while no live connection brings it. */
const LOOK_AGAIN = 1_000

/** The conversation's messages with the one that is being answered, and what can be done with it. */
export function useExchange(threadId: string, entries: Entry[]) {
  const chat = useConversations()(threadId)
  const { messages, status, error, sendMessage, regenerate, setMessages, clearError } =
    useChat<ChatUIMessage>({
      chat,
      throttle: 50,
    })
  const { revalidate } = useRevalidator()
  const [stopProblem, setStopProblem] = useState<string | null>(null)

  const isHere = status === "submitted" || status === "streaming"
  const stored = findStoredStatus(entries, messages)
  // A stream that ended is only left for the record of its whole; one that was lost, for any record of it.
  const isSettled = stored !== null && (stored !== "running" || isLost(error))
  const bubbles =
    !isHere && isSettled
      ? mergeExchange(entries, NOTHING_RUNS)
      : mergeExchange(entries, { messages, isAnswering: isHere, failure: describeFailure(error) })
  const last = bubbles.at(-1)
  const isElsewhere = !isHere && last?.status === "running"
  const isAnswering = isHere || isElsewhere
  const announcement = useAnnouncement(isAnswering, last?.status ?? null)

  const isUnsettled = !isHere && messages.length > 0 && !isSettled
  const mustAsk = !useIsLive() && (isUnsettled || isElsewhere)
  useEffect(() => {
    if (!mustAsk) return
    void revalidate()
    const timer = setInterval(() => void revalidate(), LOOK_AGAIN)
    return () => clearInterval(timer)
  }, [mustAsk, revalidate])

  function ask(text: string) {
    setMessages([])
    void sendMessage({ text })
  }

  function retry() {
    const question = bubbles.findLast(({ role }) => role === "user")
    if (!last?.requestId || !question) return
    setMessages([
      { id: last.requestId, role: "user", parts: question.parts.filter((part) => part.type === "text") },
    ])
    void regenerate()
  }

  async function stop() {
    setStopProblem(null)
    try {
      await send("POST", `/api/chat/threads/${threadId}/stop`)
    } catch (problem) {
      setStopProblem(problem instanceof Error ? problem.message : "The answer could not be stopped.")
    }
  }

  return {
    bubbles,
    isAnswering,
    refusal: error instanceof AskRefused ? error : null,
    dismiss: clearError,
    announcement: stopProblem ?? announcement,
    ask,
    retry,
    stop: () => void stop(),
  }
}

const NOTHING_RUNS = { messages: [], isAnswering: false, failure: null }

/** A TypeError is the browser's word for a stream that broke off. */
function isLost(error: Error | undefined): boolean {
  return error instanceof TypeError
}

/** What went wrong after the question was taken. */
function describeFailure(error: Error | undefined): string | null {
  if (!error || error instanceof AskRefused) return null
  return isLost(error)
    ? "The connection was lost. The answer goes on without it, and appears here when it is known."
    : error.message
}

/** The start and the end of an answer, for those who hear the page; never its words as they come. */
function useAnnouncement(isAnswering: boolean, status: string | null) {
  const [hasAnswered, setHasAnswered] = useState(false)
  if (isAnswering && !hasAnswered) setHasAnswered(true)
  if (isAnswering) return "The answer is being written."
  if (!hasAnswered) return ""
  return status === "completed" ? "The answer is complete." : "The answer has ended early."
}
