import type { HeardPiece } from "../ports/model.ts"
import type { AnswerChunk } from "./contract.ts"

/** A delta of the SDK's stream. */
interface StreamedDelta {
  type: "text-delta" | "reasoning-delta"
  /** Of the run that it belongs to. */
  id: string
  text: string
}

/**
 * Gives each character of an answer out once, in order, whichever way it comes first: heard from the model, or through the
 * SDK's stream. What is heard waits until the stream has begun its run.
 */
export function createWords(give: (chunk: AnswerChunk) => void) {
  let given = 0
  let streamed = 0
  let run: Pick<StreamedDelta, "type" | "id"> | null = null
  const waiting: HeardPiece[] = []

  function giveWaiting() {
    while (run && waiting[0] && waiting[0].after <= given) {
      const piece = waiting.shift()
      if (piece) giveText(run, piece.text.slice(given - piece.after))
    }
  }

  function giveText({ type, id }: Pick<StreamedDelta, "type" | "id">, delta: string) {
    if (delta === "") return
    given += delta.length
    give({ type, id, delta })
  }

  return {
    hear(piece: HeardPiece) {
      waiting.push(piece)
      giveWaiting()
    },
    take(delta: StreamedDelta) {
      const { type, id, text } = delta
      run = { type, id }
      streamed += text.length
      if (streamed > given) giveText(run, text.slice(text.length - (streamed - given)))
      giveWaiting()
    },
  }
}
