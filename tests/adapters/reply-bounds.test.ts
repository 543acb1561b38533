import { describe, expect, it } from "vitest"
import { askedModel, openModelServer, piece, readReply, sendStream } from "../support/model-server.ts"

async function replyTo(deltas: object[]) {
  const events = [...deltas.map((delta) => piece(delta)), piece({}, "stop"), "[DONE]"]
  const { baseUrl } = await openModelServer((response) =>
    sendStream(
      response,
      events.map((event) => `data: ${event}\n\n`),
    ),
  )
  return readReply(askedModel(baseUrl))
}

describe("a reply of a model that keeps to no limit", () => {
  it("is cut where it is too long, and says so", async () => {
    const { text, finish, error } = await replyTo([
      { content: "a".repeat(499_999) },
      { content: "👩".repeat(1000) },
    ])
    expect([text.length, text.isWellFormed(), error]).toEqual([500_000, true, null])
    expect(finish).toMatchObject({ finishReason: "length" })
  })

  it("is cut where it changes between text and thoughts for too long", async () => {
    const { chunks, finish } = await replyTo(
      Array.from({ length: 500 }, (_, at) => (at % 2 ? { content: "a" } : { reasoning_content: "b" })),
    )
    const begun = chunks.filter(({ type }) => type === "text-start" || type === "reasoning-start")
    expect(begun).toHaveLength(200)
    expect(finish).toMatchObject({ finishReason: "length" })
  })

  it("is left as it is within the limits", async () => {
    const { text, reasoning, finish } = await replyTo([{ reasoning_content: "hm" }, { content: "yes" }])
    expect([text, reasoning]).toEqual(["yes", "hm"])
    expect(finish).toMatchObject({ finishReason: "stop" })
  })

  it("may begin with any amount of white space", async () => {
    const { text } = await replyTo([
      ...Array.from({ length: 30 }, () => ({ content: " ".repeat(100) })),
      { content: "x" },
    ])
    expect(text.trim()).toBe("x")
  })
})
