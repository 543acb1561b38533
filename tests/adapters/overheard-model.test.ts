import { streamText, tool, type TextStreamPart, type ToolSet } from "ai"
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import { toStandardJsonSchema } from "@valibot/to-json-schema"
import * as v from "valibot"
import { afterEach, describe, expect, it } from "vitest"
import { openGatewayModel } from "#server/adapters/gateway-model.ts"
import { createPace } from "#server/adapters/pace.ts"
import { splitEvents } from "#server/adapters/split-events.ts"
import type { HeardPiece } from "#server/ports/model.ts"
import { portOf } from "../support/port-of.ts"

describe("a model that is overheard", () => {
  it("tells its words past the stream, which gets each run as its first delta and its rest", async () => {
    const words = Array.from({ length: 100 }, (_, index) => `word${index} `)
    const { heard, parts } = await overhear([words.map((content) => delta({ content })).join("") + STOP])
    expect(textsOf(parts, "text-delta")).toEqual([words[0], words.slice(1).join("")])
    expect(heard.map(({ text }) => text).join("")).toBe(words.slice(1).join(""))
    expect(heard[0]).toMatchObject({ kind: "text", after: "word0 ".length })
    expect(heard.length).toBeLessThan(50)
  })

  it("keeps thoughts, words and tool calls in their order", async () => {
    const called = [{ index: 0, id: "call_1", function: { name: "lookUp", arguments: '{"word":"tide"}' } }]
    const { heard, parts } = await overhear([
      delta({ role: "assistant", content: "" }),
      delta({ reasoning_content: "First " }),
      delta({ reasoning_content: "a thought." }),
      delta({ content: "Then " }),
      delta({ content: "words." }),
      delta({ tool_calls: called }),
      end("tool_calls"),
    ])
    expect(heard).toEqual([
      { kind: "reasoning", text: "a thought.", after: 6 },
      { kind: "text", text: "words.", after: 21 },
    ])
    expect(textsOf(parts, "reasoning-delta")).toEqual(["First ", "a thought."])
    expect(textsOf(parts, "text-delta")).toEqual(["Then ", "words."])
    const order = parts.map(({ type }) => type)
    expect(order.indexOf("tool-call")).toBeGreaterThan(order.lastIndexOf("text-delta"))
    expect(parts).toContainEqual(expect.objectContaining({ type: "tool-call", input: { word: "tide" } }))
    expect(finishOf(parts)).toBe("tool-calls")
  })

  it("hears of usage that comes with words", async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
    const { parts } = await overhear([
      delta({ content: "a" }, { usage: { ...usage, completion_tokens: 1 } }),
      delta({ content: "b" }, { usage }),
      end("length"),
    ])
    const finish = parts.find(({ type }) => type === "finish")
    expect(finish).toMatchObject({ finishReason: "length", totalUsage: { inputTokens: 3, outputTokens: 2 } })
  })

  it.each([
    [
      "the last words end the answer",
      [delta({ content: "Half" }), delta({ content: " and half" }, {}, "stop")],
    ],
    [
      "the stream does not say that it is done",
      [delta({ content: "Half" }), delta({ content: " and half" }), end("stop")],
    ],
    [
      "the stream has comments",
      [": busy\n\n", delta({ content: "Half" }), ": busy\n\n", delta({ content: " and half" }), STOP],
    ],
    [
      "lines end as they do on Windows",
      [delta({ content: "Half" }), delta({ content: " and" }), delta({ content: " half" }), STOP].map(
        (event) => event.replaceAll("\n", "\r\n"),
      ),
    ],
    [
      "words come in parts",
      [
        delta({ content: [{ type: "text", text: "Half" }] }),
        delta({ content: " and" }),
        delta({ content: " half" }),
        STOP,
      ],
    ],
  ])("says all once where %s", async (_, events) => {
    const { parts } = await overhear(events)
    expect(textsOf(parts, "text-delta").join("")).toBe("Half and half")
    expect(finishOf(parts)).toBe("stop")
  })

  it("tells nothing more once words came in a shape that only the provider reads", async () => {
    const { heard } = await overhear([
      delta({ content: [{ type: "text", text: "Half" }] }),
      delta({ content: " and" }),
      delta({ content: " half" }),
      STOP,
    ])
    expect(heard).toEqual([])
  })

  it("puts characters together that were cut between packets", async () => {
    const bytes = Buffer.from(
      [delta({ content: "a" }), delta({ content: "🌊é" }), delta({ content: "漢" }), STOP].join(""),
    )
    const { heard, parts } = await overhear([...bytes].map((byte) => Buffer.from([byte])))
    expect(textsOf(parts, "text-delta").join("")).toBe("a🌊é漢")
    expect(heard.map(({ text }) => text).join("")).toBe("🌊é漢")
  })

  it.each([
    ["breaks off", (response: ServerResponse) => response.end()],
    [
      "is reset",
      async (response: ServerResponse, told: HeardPiece[]) => {
        // A reset overtakes what is still on its way.
        await expect.poll(() => told.length).toBe(1)
        response.socket?.resetAndDestroy()
      },
    ],
  ])("tells what was said before the connection %s, and fails", async (_, fail) => {
    const { heard, parts } = await overhear(
      [delta({ content: "Half " }), delta({ content: "an answer" })],
      fail,
    )
    expect(heard.map(({ text }) => text).join("")).toBe("an answer")
    expect(parts.map(({ type }) => type)).toContain("error")
  })

  it.each([
    ["an error", 'data: {"error":{"message":"overloaded"}}\n\n'],
    ["nonsense", "data: {\n\n"],
  ])("gives the stream %s in its place", async (_, event) => {
    const { parts } = await overhear([delta({ content: "a" }), delta({ content: "b" }), event])
    const order = parts.map(({ type }) => type)
    expect(textsOf(parts, "text-delta")).toEqual(["a", "b"])
    expect(order.indexOf("error")).toBeGreaterThan(order.lastIndexOf("text-delta"))
  })

  it("is silent once it is stopped, each of forty at once, and its gateway hears of all", async () => {
    let begun = 0
    let gone = 0
    const port = await serve((response) => {
      begun++
      const more = setInterval(() => response.write(delta({ content: "on and on " })), 2)
      response.once("close", () => {
        clearInterval(more)
        gone++
      })
    })
    const all = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const stop = new AbortController()
        const heard: HeardPiece[] = []
        const result = streamText({
          model: open(port, (piece) => {
            heard.push(piece)
            stop.abort()
          }),
          prompt: "Hello",
          abortSignal: stop.signal,
          onError: () => {},
        })
        await result.consumeStream()
        return heard.length
      }),
    )
    expect(all).toEqual(Array.from({ length: 40 }, () => 1))
    await expect.poll(() => gone).toBe(40)
    expect(begun).toBe(40)
  })
})

describe("the pace", () => {
  it("slows down as more answers run, and is quick again when they are over", () => {
    const pace = createPace()
    const leave = Array.from({ length: 50 }, () => pace.enter())
    expect(pace.interval).toBeLessThanOrEqual(100)
    leave.push(...Array.from({ length: 50 }, () => pace.enter()))
    expect(pace.interval).toBeLessThanOrEqual(200)
    leave.push(...Array.from({ length: 900 }, () => pace.enter()))
    expect(pace.interval).toBe(250)
    for (const each of leave) each()
    for (const each of leave) each()
    expect(pace.interval).toBeLessThanOrEqual(100)
  })
})

describe("server-sent events", () => {
  it.each(["\n\n", "\r\n\r\n"])("are cut apart in the same way wherever the packets were cut: %j", (gap) => {
    const bytes = Buffer.from(`data: é${gap}: 🌊${gap}data: 漢${gap}data: the rest`)
    for (let cut = 0; cut <= bytes.length; cut++) {
      const events = splitEvents()
      const whole = [...events.take(bytes.subarray(0, cut)), ...events.take(bytes.subarray(cut))]
      expect(whole).toEqual([`data: é${gap}`, `: 🌊${gap}`, `data: 漢${gap}`])
      expect(events.rest()).toBe("data: the rest")
    }
  })
})

const STOP = `${end("stop")}data: [DONE]\n\n`

function delta(said: object, around: object = {}, finish: string | null = null) {
  const choices = [{ index: 0, delta: said, finish_reason: finish }]
  return `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices, ...around })}\n\n`
}

function end(reason: string) {
  return delta({}, {}, reason)
}

/** What is heard of an answer that the gateway gives in these packets, and what the SDK's stream has of it. */
async function overhear(
  packets: (string | Uint8Array)[],
  finish: (response: ServerResponse, heard: HeardPiece[]) => unknown = (response) => response.end(),
) {
  const heard: HeardPiece[] = []
  const port = await serve(async (response) => {
    for (const packet of packets) {
      await new Promise<unknown>((sent) => response.write(packet, sent))
      if (typeof packet !== "string") await new Promise(setImmediate)
    }
    await finish(response, heard)
  })
  const parts: TextStreamPart<ToolSet>[] = []
  const result = streamText({
    model: open(port, (piece) => heard.push({ ...piece })),
    prompt: "Hello",
    tools: { lookUp: tool({ inputSchema: toStandardJsonSchema(v.object({ word: v.string() })) }) },
    maxRetries: 0,
    onError: () => {},
  })
  try {
    for await (const part of result.stream) parts.push(part)
  } catch (error) {
    parts.push({ type: "error", error })
  }
  return { heard, parts }
}

function textsOf(parts: TextStreamPart<ToolSet>[], type: "text-delta" | "reasoning-delta") {
  return parts.flatMap((part) => (part.type === type ? [part.text] : []))
}

function finishOf(parts: TextStreamPart<ToolSet>[]) {
  return parts.find((part) => part.type === "finish")?.finishReason
}

function open(port: number, hear: (piece: HeardPiece) => void) {
  return openGatewayModel({
    gateway: { kind: "remote", key: "a key", baseUrl: `http://127.0.0.1:${port}/v1`, api: "chat" },
    name: "m",
  }).open(hear)
}

const servers: ReturnType<typeof createServer>[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function serve(answer: (response: ServerResponse) => unknown): Promise<number> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    void answer(response)
  })
  servers.push(server)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return portOf(server)
}
