import { describe, expect, it } from "vitest"
import { createReplyRecord } from "#server/chat/reply-record.ts"
import { foldChunks, type ReplyDelta } from "#server/chat/contract.ts"

describe("the record of a reply", () => {
  it("returns what arrived since the last time, joined, and nothing twice", () => {
    const record = createReplyRecord()
    for (const delta of ["The ", "sea "]) record.take({ type: "text-delta", id: "t", delta })
    expect(record.drain()).toEqual([{ type: "text", id: "0", text: "The sea " }])
    expect(record.drain()).toEqual([])
    record.take({ type: "text-delta", id: "t", delta: "is deep." })
    expect(record.drain()).toEqual([{ type: "text", id: "0", text: "is deep." }])
  })

  it("has the same result however the chunks are split", () => {
    for (let cuts = 0; cuts < 2 ** CHUNKS.length; cuts += 7) {
      const record = createReplyRecord()
      const pieces: ReplyDelta[][] = []
      for (const [at, chunk] of CHUNKS.entries()) {
        record.take(chunk)
        if (cuts & (1 << at)) pieces.push(record.drain())
      }
      pieces.push(record.drain())
      const rows = pieces.map((delta, seq) => ({ seq, delta })).toReversed()
      const { content, parts } = record.read()
      expect(foldChunks(rows)).toEqual({ content, parts })
    }
  })

  it("keeps two texts apart that a provider gives the same id", () => {
    const record = createReplyRecord()
    for (const chunk of CHUNKS) record.take(chunk)
    expect(record.read()).toMatchObject({
      content: "Let me look. \u{1F30A}\n\nIt is deep.",
      parts: [
        { type: "reasoning", text: "Hm." },
        { type: "text", text: "Let me look. \u{1F30A}" },
        { type: "tool", callId: "c", name: "searchFiles", input: { name: "sea" }, output: { files: [] } },
        { type: "text", text: "It is deep." },
      ],
    })
  })

  it("holds back the first half of a surrogate pair until the second arrives", () => {
    const record = createReplyRecord()
    record.take({ type: "text-delta", id: "t", delta: "wave \ud83c" })
    expect(record.drain()).toEqual([{ type: "text", id: "0", text: "wave " }])
    record.take({ type: "text-delta", id: "t", delta: "\udf0a!" })
    expect(record.drain()).toEqual([{ type: "text", id: "0", text: "\u{1F30A}!" }])
  })

  it("has no parts if it is text only, and no text before the first character", () => {
    const record = createReplyRecord()
    record.take({ type: "text-delta", id: "t", delta: "" })
    expect(record.drain()).toEqual([])
    expect(record.read()).toMatchObject({ content: "", parts: null })
    record.take({ type: "text-delta", id: "t", delta: "Yes." })
    expect(record.read()).toMatchObject({ content: "Yes.", parts: null, status: "completed" })
  })
})

const CHUNKS: Parameters<ReturnType<typeof createReplyRecord>["take"]>[0][] = [
  { type: "reasoning-delta", id: "0", delta: "Hm." },
  { type: "text-delta", id: "0", delta: "Let me " },
  { type: "text-delta", id: "0", delta: "look. \ud83c" },
  { type: "text-delta", id: "0", delta: "\udf0a" },
  { type: "text-end", id: "0" },
  { type: "tool-input-start", toolCallId: "c", toolName: "searchFiles" },
  { type: "tool-input-available", toolCallId: "c", toolName: "searchFiles", input: { name: "sea" } },
  { type: "tool-output-available", toolCallId: "c", output: { files: [] } },
  { type: "text-delta", id: "0", delta: "It is " },
  { type: "text-delta", id: "0", delta: "deep." },
]
