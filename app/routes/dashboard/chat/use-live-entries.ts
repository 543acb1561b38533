import { useMemo } from "react"
import { TURN_LIFETIME, type Entry, type LiveMessage, type LiveTurn } from "#server/chat/contract.ts"

/** The latest messages with what is known of their answers, oldest first: two live lists, joined as they change. */
export function useLiveEntries(messages: readonly LiveMessage[], turns: readonly LiveTurn[]): Entry[] {
  return useMemo(() => {
    const answers = new Map(turns.map((turn) => [turn._id, turn]))
    const questions = new Map(turns.map((turn) => [turn.questionId, turn]))
    return messages.toReversed().map((message) => {
      const turn = answers.get(message._id)
      const requestId = (turn ?? questions.get(message._id))?.requestId ?? null
      return Object.assign({ requestId, turn: turn ? withoutLostTurn(turn, message) : null }, message)
    })
  }, [messages, turns])
}

/** A process that died could not say that its turn has ended. */
function withoutLostTurn(turn: LiveTurn, { _creationTime }: LiveMessage): LiveTurn {
  const isLost = turn.status === "running" && _creationTime < Date.now() - TURN_LIFETIME
  return isLost ? { ...turn, status: "interrupted" } : turn
}
