import { useMemo } from "react"
import type { Entry, LiveMessage, LiveTurn } from "#server/chat/contract.ts"

/** Messages with what is known of their answers, oldest first: two live lists, joined as they change. */
export function useLiveEntries(messages: readonly LiveMessage[], turns: readonly LiveTurn[]): Entry[] {
  return useMemo(() => {
    const answers = new Map(turns.map((turn) => [turn._id, turn]))
    const questions = new Map(turns.map((turn) => [turn.questionId, turn]))
    return messages.toReversed().map((message) => {
      const turn = answers.get(message._id)
      const requestId = (turn ?? questions.get(message._id))?.requestId ?? null
      return Object.assign({ requestId, turn: turn ?? null }, message)
    })
  }, [messages, turns])
}
