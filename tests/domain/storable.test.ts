import { expect, it } from "vitest"
import { createReplyRecord } from "#server/chat/reply-record.ts"

it("a reply is stored completely even if its tools return characters that no database stores", () => {
  const record = createReplyRecord()
  record.take({ type: "text-delta", id: "1", delta: "a\0b" })
  record.take({ type: "tool-input-start", toolCallId: "t", toolName: "findFiles" })
  record.take({
    type: "tool-input-available",
    toolCallId: "t",
    toolName: "findFiles",
    input: { "na\0me": ["\ud800", 5, null] },
  })
  record.take({ type: "text-delta", id: "2", delta: "the end" })
  const { content, parts } = record.read()
  expect(content).toBe("ab\n\nthe end")
  expect(parts).toEqual([
    { type: "text", text: "ab" },
    { type: "tool", callId: "t", name: "findFiles", input: { name: ["\ufffd", 5, null] } },
    { type: "text", text: "the end" },
  ])
})

it("a reply is stored even if its tools return endlessly nested values", () => {
  const depth = 20_000
  const record = createReplyRecord()
  const input: unknown = JSON.parse(`${"[".repeat(depth)}1${"]".repeat(depth)}`)
  record.take({ type: "tool-input-available", toolCallId: "t", toolName: "searchFiles", input })
  expect(JSON.stringify(record.drain())).toContain("(nested too deeply to be kept)")
  expect(JSON.stringify(record.read().parts).length).toBeLessThan(500)
})
