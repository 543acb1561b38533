import type { ServerResponse } from "node:http"
import { gzipSync } from "node:zlib"
import { toStandardJsonSchema } from "@valibot/to-json-schema"
import { tool } from "ai"
import * as v from "valibot"
import { expect, describe, it } from "vitest"
import { ReplyStopped } from "#server/chat/generate-reply.ts"
import { askedModel, openModelServer, piece, readReply, sendStream } from "../support/model-server.ts"

const WORDS = Array.from({ length: 12 }, (_, index) => `${index}:${"over the bar".slice(0, 2 + index)} `)
const PIECES = [...WORDS.map((content) => piece({ content })), piece({}, "stop"), "[DONE]"]

const tellTime = tool({
  inputSchema: toStandardJsonSchema(v.object({})),
  execute: () => ({ time: "noon" }),
})

/** The events of one reply with the line end `eol`, each made by `write`. */
function events(eol: string, write: (data: string, index: number) => string[] = (data) => [`data: ${data}`]) {
  return PIECES.map((data, index) => [...write(data, index), "", ""].join(eol))
}

/** JSON on several lines, which only a parser that joins them with a line feed reads correctly. */
function onLines(data: string) {
  if (data === "[DONE]") return [`data: ${data}`]
  return JSON.stringify(JSON.parse(data), null, 1)
    .split("\n")
    .map((line) => `data: ${line}`)
}

const LF = "\n"
const CRLF = "\r\n"
const CR = "\r"

const SPELLINGS: [string, string[]][] = [
  ["with line feeds", events(LF)],
  ["with carriage returns and line feeds", events(CRLF)],
  ["with carriage returns alone", events(CR)],
  [
    "with a comment line before some data",
    events(LF, (data, at) => (at === 2 || at === 7 ? [": busy", `data: ${data}`] : [`data: ${data}`])),
  ],
  [
    "with an id after some data",
    events(LF, (data, at) => (at === 2 || at === 7 ? [`data: ${data}`, `id: ${at}`] : [`data: ${data}`])),
  ],
  ["with the name of an event before the data", events(LF, (data) => ["event: message", `data: ${data}`])],
  [
    "with some JSON over several data lines",
    events(LF, (data, at) => (at === 2 || at === 7 ? onLines(data) : [`data: ${data}`])),
  ],
  ["without the space after the colon", events(LF, (data) => [`data:${data}`])],
  [
    "with a keepalive in line feeds before events in carriage returns and line feeds",
    [`: keepalive${LF}${LF}`, ...events(CRLF)],
  ],
  [
    "with a keepalive in carriage returns and line feeds before events in line feeds",
    [`: keepalive${CRLF}${CRLF}`, ...events(LF)],
  ],
  ["with a byte order mark", ["\uFEFF", ...events(LF)]],
  ["with keepalives between", events(LF).flatMap((event) => [`:${LF}${LF}`, event])],
  [
    "with errors that are null",
    events(LF, (data) => [
      data === "[DONE]"
        ? `data: ${data}`
        : `data: ${JSON.stringify({ ...(JSON.parse(data) as object), error: null })}`,
    ]),
  ],
]

describe("the model server's stream", () => {
  it.each(SPELLINGS)("is parsed completely with %s", async (_, stream) => {
    const { baseUrl } = await openModelServer((response) => sendStream(response, stream))
    const { text, error, finish } = await readReply(askedModel(baseUrl))
    expect({ text, error, reason: finish?.finishReason }).toEqual({
      text: WORDS.join(""),
      error: null,
      reason: "stop",
    })
  })

  it.each(SPELLINGS)("is parsed completely with %s, in packets of one byte", async (_, stream) => {
    const bytes = [...Buffer.from(stream.join(""))].map((byte) => Uint8Array.of(byte))
    const { baseUrl } = await openModelServer((response) => sendStream(response, bytes))
    const { text, error, finish } = await readReply(askedModel(baseUrl))
    expect({ text, error, reason: finish?.finishReason }).toEqual({
      text: WORDS.join(""),
      error: null,
      reason: "stop",
    })
  })

  it("is read chunk by chunk whatever ends its lines", async () => {
    const stream = [`: keepalive${LF}${LF}`, ...events(CRLF)]
    const seen = Promise.withResolvers<void>()
    const { baseUrl } = await openModelServer(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      for (const event of stream.slice(0, 3)) response.write(event)
      await seen.promise
      await sendStream(response, stream.slice(3))
    })
    const scope = askedModel(baseUrl)
    const { text } = await readReply(scope, {}, (chunk) => {
      if (chunk.type === "text-delta") seen.resolve()
    })
    expect(text).toBe(WORDS.join(""))
  })

  it("keeps characters that were split between packets", async () => {
    const bytes = [...Buffer.from(`data: ${piece({ content: "a🌊é漢" })}\n\ndata: ${piece({}, "stop")}\n\n`)]
    const { baseUrl } = await openModelServer((response) =>
      sendStream(
        response,
        bytes.map((byte) => Uint8Array.of(byte)),
      ),
    )
    expect((await readReply(askedModel(baseUrl))).text).toBe("a🌊é漢")
  })

  it("is requested without compression, and read if it is compressed all the same", async () => {
    const { baseUrl, requests } = await openModelServer((response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" })
      response.end(gzipSync(events(LF).join("")))
    })
    const { text, error } = await readReply(askedModel(baseUrl))
    expect({ text, error }).toEqual({ text: WORDS.join(""), error: null })
    expect(requests.map(({ headers }) => headers["accept-encoding"])).toEqual(["identity"])
  })
})

describe("the chunks of a reply", () => {
  it("are fewer than those of the model server, and complete", async () => {
    const words = Array.from({ length: 400 }, (_, index) => `word ${index} `)
    const { baseUrl } = await openModelServer((response) =>
      sendStream(response, [
        words.map((content) => `data: ${piece({ content })}\n\n`).join(""),
        `data: ${piece({}, "stop")}\n\n`,
      ]),
    )
    const { chunks, text } = await readReply(askedModel(baseUrl))
    const deltas = chunks.filter(({ type }) => type === "text-delta")
    expect(text).toBe(words.join(""))
    expect(deltas.length).toBeLessThan(100)
  })

  it("keep reasoning, text and tool calls in order", async () => {
    const called = [{ index: 0, id: "call_1", function: { name: "tellTime", arguments: "{}" } }]
    const { baseUrl } = await openModelServer((response, _, number) =>
      sendStream(
        response,
        [
          piece({ role: "assistant", content: "" }),
          ...["First ", "a ", "thought."].map((reasoning_content) => piece({ reasoning_content })),
          ...["Then ", "some ", "words."].map((content) => piece({ content })),
          ...(number === 0 ? [piece({ tool_calls: called }), piece({}, "tool_calls")] : [piece({}, "stop")]),
        ].map((data) => `data: ${data}\n\n`),
      ),
    )
    const { chunks } = await readReply(askedModel(baseUrl), { tools: { tellTime } })
    const order = chunks.flatMap((chunk) => {
      if (chunk.type === "reasoning-delta" || chunk.type === "text-delta") return [chunk.delta]
      return chunk.type === "tool-input-available" || chunk.type === "tool-output-available"
        ? [chunk.type]
        : []
    })
    const step = "First a thought.Then some words."
    expect(order.join("")).toBe(`${step}tool-input-availabletool-output-available${step}`)
  })

  it.each([
    ["breaks off", (response: ServerResponse) => response.end()],
    ["is reset", (response: ServerResponse) => response.socket?.resetAndDestroy()],
  ])("are kept if the connection %s, and the reply fails", async (_, fail) => {
    const said = Promise.withResolvers<void>()
    const { baseUrl } = await openModelServer(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      for (const content of ["Half ", "an ", "answer"]) response.write(`data: ${piece({ content })}\n\n`)
      // A reset overtakes data that is still in flight.
      await said.promise
      fail(response)
    })
    let received = ""
    const { text, error } = await readReply(askedModel(baseUrl), {}, (chunk) => {
      if (chunk.type === "text-delta") received += chunk.delta
      if (received === "Half an answer") said.resolve()
    })
    expect(text).toBe("Half an answer")
    expect(error).toMatch(/^The model couldn't reply\./)
  })

  it("are all kept if many arrive together and the connection is cut after them", async () => {
    const received = WORDS.map(() => Promise.withResolvers<void>())
    const { baseUrl } = await openModelServer(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      for (const [index, content] of WORDS.slice(0, 6).entries()) {
        response.write(`data: ${piece({ content })}\n\n`)
        await received[index]?.promise
      }
      response.write(
        WORDS.slice(6)
          .map((content) => `data: ${piece({ content })}\n\n`)
          .join(""),
      )
      response.socket?.end()
    })
    let said = ""
    const { text, error } = await readReply(askedModel(baseUrl), {}, (chunk) => {
      if (chunk.type === "text-delta") said += chunk.delta
      for (const [index, each] of received.entries())
        if (said.length >= WORDS.slice(0, index + 1).join("").length) each.resolve()
    })
    expect(text).toBe(WORDS.join(""))
    expect(error).toMatch(/^The model couldn't reply\./)
  })

  it("end when each of forty replies is stopped, and the model server sees its request aborted", async () => {
    let begun = 0
    let gone = 0
    const { baseUrl } = await openModelServer((response) => {
      begun++
      response.writeHead(200, { "content-type": "text/event-stream" })
      const more = setInterval(() => response.write(`data: ${piece({ content: "on and on " })}\n\n`), 2)
      response.once("close", () => {
        clearInterval(more)
        gone++
      })
    })
    const scope = askedModel(baseUrl)
    const answers = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const stop = new AbortController()
        let after = 0
        await readReply(scope, { signal: stop.signal }, (chunk) => {
          if (chunk.type !== "text-delta") return
          if (stop.signal.aborted) after++
          stop.abort(new ReplyStopped("stopped"))
        })
        return after
      }),
    )
    expect(answers).toEqual(Array.from({ length: 40 }, () => 0))
    await expect.poll(() => gone).toBe(40)
    expect(begun).toBe(40)
  })
})

describe("reasoning in tags", () => {
  it.each([
    ["in one chunk", ["<think>\nIs it deep?\n</think>\n\nVery deep."]],
    ["cut anywhere", "<think>\nIs it deep?\n</think>\n\nVery deep.".split("")],
    ["after a blank line", ["\n", "<think>", "Is it deep?", "</think>", "\n\nVery deep."]],
  ])("at the beginning of a reply is separated from its text: %s", async (_, contents) => {
    const { text, reasoning, error } = await say(contents)
    expect({ text: text.trim(), reasoning: reasoning.trim(), error }).toEqual({
      text: "Very deep.",
      reasoning: "Is it deep?",
      error: null,
    })
  })

  it("without a closing tag lasts to the end", async () => {
    const { text, reasoning } = await say(["<think>On ", "and on <", "/thin"])
    expect({ text, reasoning }).toEqual({ text: "", reasoning: "On and on </thin" })
  })

  it("ends at a tool call that cuts it off", async () => {
    const called = [{ index: 0, id: "call_1", function: { name: "tellTime", arguments: "{}" } }]
    const steps = [
      [piece({ content: "<think>What time is it?" }), piece({ tool_calls: called }), piece({}, "tool_calls")],
      [piece({ content: "Noon." }), piece({}, "stop")],
    ]
    const { baseUrl } = await openModelServer((response, _, number) =>
      sendStream(
        response,
        (steps[number] ?? []).map((data) => `data: ${data}\n\n`),
      ),
    )
    const { chunks, reasoning, text, error } = await readReply(askedModel(baseUrl), { tools: { tellTime } })
    expect({ reasoning, text, error }).toEqual({ reasoning: "What time is it?", text: "Noon.", error: null })
    expect(chunks.map(({ type }) => type)).toContain("tool-output-available")
  })

  it.each([
    "The tag <think> begins a thought, and </think> ends it.",
    "<thinking> is another tag.",
    "<th",
    "1 < 2",
  ])("that a reply only mentions stays text: %s", async (words) => {
    const { text, reasoning } = await say(words.split(""))
    expect({ text, reasoning }).toEqual({ text: words, reasoning: "" })
  })
})

describe("a model server that redirects", () => {
  it.each([301, 302, 303, 307, 308])("is not followed: %i", async (status) => {
    const elsewhere = await openModelServer((response) => sendStream(response, events(LF)))
    const { baseUrl, requests } = await openModelServer((response) => {
      response.writeHead(status, { location: `${elsewhere.baseUrl}/chat/completions` }).end()
    })
    const { error, text } = await readReply(askedModel(baseUrl))
    expect(error).not.toBeNull()
    expect({ text, asked: requests.length, followed: elsewhere.requests.length }).toEqual({
      text: "",
      asked: 1,
      followed: 0,
    })
  })
})

async function say(contents: string[]) {
  const stream = [...contents.map((content) => piece({ content })), piece({}, "stop"), "[DONE]"]
  const { baseUrl } = await openModelServer((response) =>
    sendStream(
      response,
      stream.map((data) => `data: ${data}\n\n`),
    ),
  )
  return readReply(askedModel(baseUrl))
}
