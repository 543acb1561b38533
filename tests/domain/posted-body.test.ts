import { pino } from "pino"
import { describe, expect, test } from "vitest"
import { BODY_LIMIT, readPostedBody } from "#server/chat/posted-body.ts"
import { createRunningTurns } from "#server/chat/running-turns.ts"
import { JSON_LIMIT } from "#server/transport/json.ts"

const turns = createRunningTurns({
  process: 1,
  log: pino({ enabled: false }),
  chunks: null as never,
})

const MEGABYTE = 1024 * 1024
const INVALID = { ok: false, status: 400 }
const TOO_LARGE = { ok: false, status: 413, limit: JSON_LIMIT }

const last = { id: "q", parts: [{ type: "text", text: 'The "last" one, 潮汐 \\ \n' }], n: -1.5e3, no: null }
const history = Array.from({ length: 100 }, (_, at) => ({ id: `${at}`, parts: [{ text: "é".repeat(5000) }] }))

describe("a body with a history of a megabyte", () => {
  test("has the last message of a stored conversation, wherever its id stands", async () => {
    for (const body of [
      { threadId: "a", messages: [...history, last], trigger: "submit" },
      { messages: [...history, last], trigger: "submit", threadId: "a" },
    ])
      expect(await read(body)).toEqual({ ok: true, value: { ...body, messages: [last] } })
  })

  test("is too large without a stored conversation", async () => {
    expect(await read({ messages: [...history, last] })).toEqual(TOO_LARGE)
    expect(await read({ threadId: null, messages: [...history, last] })).toEqual(TOO_LARGE)
  })

  test("may end with any value, and with none", async () => {
    for (const value of [7, "text", null, [], [[{}], 1], true, {}])
      expect(await read({ threadId: "a", messages: [...history, value] })).toMatchObject({
        value: { messages: [value] },
      })
    expect(
      await read({ threadId: "a", pad: "x".repeat(200_000), pad2: "x".repeat(50_000), messages: [] }),
    ).toMatchObject({ value: { messages: [] } })
  })

  test("counts the second of two lists of messages", async () => {
    const first = JSON.stringify(history)
    const text = `{"threadId":"a","messages":${first},"messages":[${JSON.stringify(last)}]}`
    expect(await read(text)).toEqual({ ok: true, value: { threadId: "a", messages: [last] } })
    expect(await read(`{"threadId":"a","messages":${first},"messages":7}`)).toMatchObject({
      value: { messages: 7 },
    })
  })

  test("cannot change what objects inherit", async () => {
    const text = `{"messages":${JSON.stringify(history)},"__proto__":{"threadId":"a"}}`
    expect(await read(text)).toEqual(TOO_LARGE)
  })

  test.each([
    ["is cut off", (text: string) => text.slice(0, -1)],
    ["is followed by another", (text: string) => `${text}{}`],
    ["lacks a comma", (text: string) => text.replace("},{", "} {")],
    ["closes what is not open", (text: string) => text.replace("}]},", "}}},")],
    ["names nothing", (text: string) => text.replace('"messages":', "")],
  ])("is no JSON if it %s", async (_, spoil) => {
    expect(await read(spoil(JSON.stringify({ threadId: "a", messages: [...history, last] })))).toEqual(
      INVALID,
    )
  })

  test("is no JSON if it is not UTF-8", async () => {
    const bytes = Buffer.from(JSON.stringify({ threadId: "a", messages: [...history, last] }))
    bytes[500_000] = 0xff
    expect(await read(bytes)).toEqual(INVALID)
  })
})

describe("what is kept of a body", () => {
  const url = `data:image/png;base64,${"A".repeat(6 * MEGABYTE)}`

  test("may have files of megabytes, in a stored conversation and in another", async () => {
    const messages = [{ parts: [{ type: "file", url }] }, { parts: [{ type: "file", url }] }]
    expect(await read({ messages })).toEqual({ ok: true, value: { messages } })
    expect(await read({ threadId: "a", messages })).toMatchObject({ value: { messages: [messages[1]] } })
  })

  test("is too large with a text of megabytes, which the history may have", async () => {
    const long = { text: "x".repeat(MEGABYTE) }
    expect(await read({ threadId: "a", messages: [long] })).toEqual(TOO_LARGE)
    expect(await read({ threadId: "a", text: long, messages: [last] })).toEqual(TOO_LARGE)
    expect(await read({ messages: [{ parts: [{ url }] }, long, last] })).toEqual(TOO_LARGE)
    expect(await read({ threadId: "a", messages: [long, last] })).toMatchObject({ ok: true })
  })

  test.each([
    ["at once", (_begin: number) => []],
    ["in two pieces", (begin: number) => [begin]],
    ["with a byte alone", (begin: number) => [begin, begin + 1]],
  ])("may have a file that arrives %s, wherever its beginning is cut", async (_, cutsAt) => {
    const file = { type: "file", url: `data:text/plain;base64,${"A".repeat(300_000)}` }
    const body = { messages: [{ id: "q", role: "user", parts: [file] }] }
    const text = JSON.stringify(body)
    const escaped = text.replace('"url"', '"\\u0075rl"').replace('"data:', '"\\u0064ata:')
    for (const sent of [text, escaped])
      for (let cut = 1; cut < sent.indexOf("AAAA"); cut++)
        expect([cut, await read(sent, cutsAt(cut))]).toEqual([cut, { ok: true, value: body }])
  })

  test.each([
    ["a text", (text: string) => ({ messages: [{ parts: [{ type: "text", text }] }, last] })],
    ["the last text", (text: string) => ({ threadId: "a", messages: [{ parts: [{ text }] }] })],
    [
      "the result of a tool",
      (data: string) => ({ messages: [{ parts: [{ output: { url: data } }] }, last] }),
    ],
    ["a list of URLs", (data: string) => ({ messages: [{ parts: [{ url: [data] }] }, last] })],
    ["a URL of the message", (data: string) => ({ messages: [{ url: data, parts: [] }, last] })],
    ["a URL of the body", (data: string) => ({ threadId: "a", url: data, messages: [last] })],
    [
      "a URL outside the messages",
      (data: string) => ({ list: [{ parts: [{ url: data }] }], messages: [last] }),
    ],
    ["the name of a property", (name: string) => ({ messages: [{ parts: [{ url: "a", [name]: 1 }] }] })],
  ])("is too large with %s that only begins like a file", async (_, make) => {
    expect(await read(make(`data:text/plain;base64,${"A".repeat(300_000)}`))).toEqual(TOO_LARGE)
    expect(await read(make(url))).toEqual(TOO_LARGE)
    expect(await read(make("data:"))).toMatchObject({ ok: true })
  })

  test.each([
    ["lists in lists", "[".repeat(MEGABYTE)],
    ["numbers", `{"threadId":"a","messages":[[${"1,".repeat(MEGABYTE)}1]]}`],
    ["digits", `{"threadId":"a","messages":[${"1".repeat(MEGABYTE)}]}`],
    ["properties", `{"threadId":"a","messages":[{${'"a":1,'.repeat(MEGABYTE)}"a":1}]}`],
    [
      "escapes in a URL",
      `{"threadId":"a","messages":[{"parts":[{"url":"data:${"\\ud800".repeat(MEGABYTE)}"}]},{}]}`,
    ],
    ["escapes in a text", `{"threadId":"a","messages":["${"\\n".repeat(3 * MEGABYTE)}"]}`],
  ])("is too large with a million %s", async (_, text) => {
    expect(await read(text)).toEqual(TOO_LARGE)
  })

  test("is not read beyond the limit of a body", async () => {
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 64 * 1024
        controller.enqueue(new Uint8Array(64 * 1024).fill(0x20))
      },
    })
    const request = requestOf(body)
    expect(await readPostedBody(request, { turns }, "ada")).toEqual({
      ok: false,
      status: 413,
      limit: BODY_LIMIT,
    })
    expect(sent).toBeLessThan(BODY_LIMIT + MEGABYTE)
  })

  test("is refused while the person sends three others, and nobody else's is", async () => {
    const sending = Array.from({ length: 3 }, () => beginSending())
    const sent = sending.map(({ request }) => readPostedBody(request, { turns }, "ada"))
    await Promise.all(sending.map(({ isRead }) => isRead))
    expect(await readPostedBody(beginSending().request, { turns }, "ada")).toEqual({ ok: false, status: 429 })
    const other = beginSending()
    const others = readPostedBody(other.request, { turns }, "grace")
    for (const { end } of [...sending, other]) end()
    for (const body of await Promise.all([...sent, others])) expect(body).toMatchObject({ ok: true })
    const after = beginSending()
    after.end()
    expect(await readPostedBody(after.request, { turns }, "ada")).toMatchObject({ ok: true })
  })
})

function read(body: object | string, cuts?: number[]) {
  const bytes = Buffer.from(typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body))
  // As they arrive from a connection, and so that characters are cut.
  const ends = cuts ?? Array.from({ length: Math.floor(bytes.length / 65_521) }, (_, at) => (at + 1) * 65_521)
  const pieces = [...ends, bytes.length].map(
    (end, at) => new Uint8Array(bytes.subarray(ends[at - 1] ?? 0, end)),
  )
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.shift()
      if (piece) controller.enqueue(piece)
      else controller.close()
    },
  })
  return readPostedBody(requestOf(stream), { turns }, "ada")
}

function requestOf(body: ReadableStream<Uint8Array>): Request {
  const init = { method: "POST", body, duplex: "half" }
  return new Request("http://a.example", init)
}

/** A large body whose end follows when it is asked for. `isRead` resolves when its beginning has been. */
function beginSending() {
  const bytes = Buffer.from(JSON.stringify({ threadId: "a", messages: [...history, last] }))
  let begun = 0
  const reading = Promise.withResolvers<void>()
  const ending = Promise.withResolvers<void>()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (begun++ === 0) return controller.enqueue(new Uint8Array(bytes.subarray(0, -1)))
        reading.resolve()
        await ending.promise
        controller.enqueue(new Uint8Array(bytes.subarray(-1)))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  return { request: requestOf(body), isRead: reading.promise, end: ending.resolve }
}
