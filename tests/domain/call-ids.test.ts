import { describe, expect, it } from "vitest"
import { createCallIds } from "#server/chat/call-ids.ts"
import { foldChunks, type ReplyChunk } from "#server/chat/contract.ts"
import { createReplyRecord } from "#server/chat/reply-record.ts"

const started: ReplyChunk = { type: "tool-input-start", toolCallId: "c", toolName: "currentTime" }
const asked = (input: string): ReplyChunk => ({
  type: "tool-input-available",
  toolCallId: "c",
  toolName: "currentTime",
  input,
})
const found = (output: string): ReplyChunk => ({ type: "tool-output-available", toolCallId: "c", output })

describe("two tool calls with one id in one reply", () => {
  it.each([
    ["one after the other", [started, asked("A"), found("a"), started, asked("B"), found("b")]],
    ["at the same time", [started, asked("A"), started, asked("B"), found("a"), found("b")]],
    ["without their beginnings", [asked("A"), asked("B"), found("a"), found("b")]],
  ])("are stored as two: %s", (_, chunks) => {
    const record = createReplyRecord()
    const withOwnId = createCallIds()
    for (const chunk of chunks) record.take(withOwnId(chunk))
    const parts = [
      { type: "tool", callId: "c", name: "currentTime", input: "A", output: "a" },
      { type: "tool", callId: "c (2)", name: "currentTime", input: "B", output: "b" },
    ]
    expect(record.read().parts).toEqual(parts)
    expect(foldChunks([{ seq: 0, delta: record.drain() }]).parts).toEqual(parts)
  })

  it("are one where a preliminary result precedes the last", () => {
    const withOwnId = createCallIds()
    const preliminary = { ...found("so far"), preliminary: true } as ReplyChunk
    const ids = [started, asked("A"), preliminary, found("a")].map(withOwnId)
    expect(ids.map((chunk) => ("toolCallId" in chunk ? chunk.toolCallId : null))).toEqual([
      "c",
      "c",
      "c",
      "c",
    ])
  })
})
