import * as fc from "fast-check"
import { expect, it } from "vitest"
import { createWords } from "#server/chat/words.ts"
import type { HeardPiece } from "#server/ports/model.ts"

type Step =
  | { heard: HeardPiece }
  | { streamed: { type: "text-delta" | "reasoning-delta"; id: string; text: string } }

/** Runs of an answer: how they begin, and the pieces that are heard of the rest. */
const runs = fc.array(
  fc.record({
    kind: fc.constantFrom("text" as const, "reasoning" as const),
    first: fc.string({ minLength: 1, maxLength: 5 }),
    rest: fc.array(fc.string({ minLength: 1, maxLength: 5 }), { maxLength: 5 }),
  }),
  { maxLength: 6 },
)

it("gives every character once, in order and in its run, however late the stream is", () => {
  fc.assert(
    fc.property(runs, fc.infiniteStream(fc.boolean()), (answer, streamIsNext) => {
      const { heard, streamed } = waysOf(answer)
      const given: { type: string; id: string; delta: string }[] = []
      const words = createWords((chunk) => {
        if ("delta" in chunk && "id" in chunk) given.push(chunk)
      })
      // A piece is heard before the stream has it, and the stream may be late by any number of pieces.
      for (const step of interleave(heard, streamed, streamIsNext)) {
        if ("heard" in step) words.hear(step.heard)
        else words.take(step.streamed)
      }
      const runsGiven = answer.map((_, index) =>
        given
          .filter(({ id }) => id === String(index))
          .map(({ delta }) => delta)
          .join(""),
      )
      expect(runsGiven).toEqual(answer.map(({ first, rest }) => first + rest.join("")))
      const ids = given.map(({ id }) => Number(id))
      expect(ids).toEqual(ids.toSorted((one, other) => one - other))
      for (const { id, type } of given) expect(type).toBe(`${answer[Number(id)]?.kind}-delta`)
    }),
  )
})

it("gives what is heard at once, as soon as its run has begun", () => {
  const given: unknown[] = []
  const words = createWords((chunk) => given.push(chunk))
  words.hear({ kind: "text", text: "lo", after: 3 })
  expect(given).toEqual([])
  words.take({ type: "text-delta", id: "0", text: "Hel" })
  words.hear({ kind: "text", text: "!", after: 5 })
  expect(given).toEqual([
    { type: "text-delta", id: "0", delta: "Hel" },
    { type: "text-delta", id: "0", delta: "lo" },
    { type: "text-delta", id: "0", delta: "!" },
  ])
})

/** The same answer on its two ways; `until` says how many heard pieces a streamed delta comes after. */
function waysOf(answer: { kind: "text" | "reasoning"; first: string; rest: string[] }[]) {
  const heard: Step[] = []
  const streamed: { step: Step; until: number }[] = []
  let after = 0
  for (const [index, { kind, first, rest }] of answer.entries()) {
    const type = `${kind}-delta` as const
    const id = String(index)
    streamed.push({ step: { streamed: { type, id, text: first } }, until: heard.length })
    after += first.length
    for (const text of rest) {
      heard.push({ heard: { kind, text, after } })
      after += text.length
    }
    if (rest.length > 0)
      streamed.push({ step: { streamed: { type, id, text: rest.join("") } }, until: heard.length })
  }
  return { heard, streamed }
}

function interleave(
  heard: Step[],
  streamed: { step: Step; until: number }[],
  streamIsNext: Iterator<boolean>,
): Step[] {
  const steps: Step[] = []
  let told = 0
  for (const { step, until } of streamed) {
    while (told < heard.length && (told < until || !streamIsNext.next().value))
      steps.push(heard[told++] as Step)
    steps.push(step)
  }
  return steps.concat(heard.slice(told))
}
