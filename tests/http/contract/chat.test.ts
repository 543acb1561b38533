import { beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { ALL, inAll } from "../../support/all.ts"
import { callers, expectRateLimit, from, post, type Api } from "../../support/api.ts"
import { DEPLOYMENTS } from "../../support/deployments.ts"
import { checkedFetch, type Fetch } from "../../support/openapi.ts"

const QUESTION = ask("Hello")

describe.each(DEPLOYMENTS)("with $provider", ({ provider, start }) => {
  /** What no identity provider has a part in. */
  const inOne = test.runIf(ALL || provider !== "Clerk")

  describe("POST /api/chat", () => {
    let api: Api
    let ada: Fetch
    let grace: Fetch

    beforeAll(async () => {
      const app = await start({ CHAT_RATE_LIMIT: "4", CHAT_TIME_LIMIT: "5" })
      api = callers(app)
      ada = await app.enter({ email: "ada@example.org", name: "Ada Lovelace" })
      grace = await app.enter({ email: "grace@example.org", name: "Grace Hopper" })
      return () => app.stop()
    })

    test("refuses a visitor with 401, before the rate limit and without its headers", async () => {
      for (let i = 0; i < 5; i++) {
        const response = await api.from("192.0.2.1")("/api/chat", post("{"))
        expect(response.status).toBe(401)
        expect(await response.json()).toEqual({ error: "Unauthorized" })
        for (const name of ["x-ratelimit-remaining", "x-ratelimit-reset", "retry-after", "x-ai-model"]) {
          expect(response.headers.get(name)).toBeNull()
        }
      }
    })

    test("streams a reply as a UI message stream", async () => {
      const response = await from("192.0.2.2", ada)("/api/chat", post(QUESTION))
      expect(response.status).toBe(200)
      expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/)
      expect(response.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1")
      expect(response.headers.get("x-ai-model")).toBeTruthy()
      expectRateLimit(response, { remaining: 3 })

      const chunks = await readStream(response)
      expect(chunks.at(0)).toMatchObject({ type: "start" })
      expect(chunks.at(-1)).toMatchObject({ type: "finish" })
      expect(textOf(chunks)).toContain("Hello")
    })

    test("streams the text as the model sends it, and ends the reply at the time limit", async () => {
      const response = await from("192.0.2.3", ada)("/api/chat", post(ask("/slow 60")))
      const stream = response.body?.pipeThrough(new TextDecoderStream()).getReader()
      let received = ""
      const readTo = async (text: string) => {
        while (!received.includes(text)) {
          const { value, done } = (await stream?.read()) ?? { done: true }
          if (done) throw new Error(`The stream ended before ${text}:\n${received}`)
          received += value
        }
      }
      await readTo(`"type":"text-delta"`)
      expect(received, "sent before the answer was over").not.toMatch(/"type":"(abort|finish)"/)
      await readTo("[DONE]")
      const chunks = readChunks(received)
      expect(textOf(chunks), "stands after twelve other words, one a second").not.toContain("word 1")
      expect(chunks.slice(-2)).toEqual([
        { type: "message-metadata", messageMetadata: { stop: "timeout" } },
        { type: "abort" },
      ])
    })

    test("lets the model call tools", async () => {
      const response = await from("192.0.2.4", ada)("/api/chat", post(ask("/tool currentTime")))
      const chunks = await readStream(response)
      const types = chunks.map(({ type }) => type)
      expect(types).toContain("tool-input-available")
      expect(types).toContain("tool-output-available")
    })

    test("accepts as many requests as configured, whatever their outcome, then refuses", async () => {
      const caller = from("192.0.2.5", ada)
      for (let accepted = 1; accepted <= 4; accepted++) {
        const response = await caller("/api/chat", post("no JSON"))
        expect(response.status).toBe(400)
        expectRateLimit(response, { remaining: 4 - accepted })
      }
      const refused = await caller("/api/chat", post("no JSON"))
      expect(refused.status).toBe(429)
      expectRateLimit(refused, { remaining: 0 })
      expect(refused.headers.get("x-ai-model")).toBeTruthy()
      expect(await refused.json()).toEqual({ error: "Too many requests" })
    })

    test("counts by user and first address of x-forwarded-for", async () => {
      await spend(from(" 192.0.2.6 , 10.0.0.1", ada))
      const same = await from("192.0.2.6,10.0.0.2", ada)("/api/chat", post(QUESTION))
      const otherAddress = await from("192.0.2.7, 192.0.2.6", ada)("/api/chat", post("no JSON"))
      const otherUser = await from("192.0.2.6", grace)("/api/chat", post("no JSON"))
      expect([same.status, otherAddress.status, otherUser.status]).toEqual([429, 400, 400])
    })

    test("counts requests without x-forwarded-for under `unknown`", async () => {
      await spend(grace)
      expect((await grace("/api/chat", post(QUESTION))).status).toBe(429)
      expect((await from("unknown", grace)("/api/chat", post(QUESTION))).status).toBe(429)
    })

    test.each(["", "{", "no JSON"])("refuses %j, which is not JSON", async (body) => {
      const response = await from(`json ${body}`, ada)("/api/chat", post(body))
      expect(response.status).toBe(400)
      expectRateLimit(response, { remaining: 3 })
      expect(response.headers.get("x-ai-model")).toBeTruthy()
      expect(await response.json()).toEqual({ error: "Invalid JSON body" })
    })

    test.each([
      null,
      1,
      "messages",
      [],
      {},
      { messages: null },
      { messages: "Hello" },
      { messages: { 0: "Hello" } },
    ])("refuses %j, and describes the expected shape", async (body) => {
      const response = await from(`shape ${JSON.stringify(body)}`, ada)(
        "/api/chat",
        post(JSON.stringify(body)),
      )
      expect(response.status).toBe(400)
      expectRateLimit(response, { remaining: 3 })
      expect((await response.json()).error).toContain("{ messages: UIMessage[] }")
    })

    test("refuses more than 256 KB", async () => {
      const response = await from("large", ada)("/api/chat", post({ messages: ["x".repeat(256 * 1024)] }))
      expect([response.status, await response.json()]).toEqual([
        413,
        { error: "Request body larger than 256 KB" },
      ])
      expectRateLimit(response, { remaining: 3 })
    })

    test.each(["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])("does not allow %s", async (method) => {
      const response = await ada("/api/chat", { method, headers: { Origin: api.app.origin } })
      expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"])
    })
  })

  describe("POST /api/chat, as configured", () => {
    inAll("accepts 20 requests a minute by default", async () => {
      const app = await start()
      onTestFinished(() => app.stop())
      const ada = await app.enter({ email: "ada@example.org", name: "Ada Lovelace" })
      const caller = from("192.0.2.9", ada)
      for (let accepted = 1; accepted <= 20; accepted++) {
        expectRateLimit(await caller("/api/chat", post("no JSON")), { remaining: 20 - accepted })
      }
      expect((await caller("/api/chat", post(QUESTION))).status).toBe(429)
    })

    inOne(
      "returns 500 without AI_GATEWAY_API_KEY, after the rate limit and before it reads the body",
      async () => {
        const app = await start({
          AI_GATEWAY_API_KEY: "",
          CHAT_MODEL: "example/model-1",
          CHAT_RATE_LIMIT: "2",
        })
        onTestFinished(() => app.stop())
        const ada = await app.enter({ email: "ada@example.org", name: "Ada Lovelace" })
        expect((await checkedFetch(app.origin)("/api/chat", post(QUESTION))).status).toBe(401)

        const caller = from("192.0.2.10", ada)
        for (const [body, remaining] of [
          [QUESTION, 1],
          ["no JSON", 0],
        ] as const) {
          const response = await caller("/api/chat", post(body))
          expect(response.status).toBe(500)
          expectRateLimit(response, { remaining })
          expect(response.headers.get("x-ai-model")).toBe("example/model-1")
          expect(await response.json()).toEqual({ error: "Missing AI_GATEWAY_API_KEY" })
        }
        expect((await caller("/api/chat", post(QUESTION))).status).toBe(429)
      },
    )
  })
})

function ask(text: string) {
  return { messages: [{ id: "1", role: "user", parts: [{ type: "text", text }] }] }
}

/** As many as the limit of 4 allows. */
async function spend(caller: Fetch) {
  for (let i = 0; i < 4; i++) await caller("/api/chat", post("no JSON"))
}

interface Chunk {
  type: string
  delta?: string
}

async function readStream(response: Response): Promise<Chunk[]> {
  return readChunks(await response.text())
}

/** The chunks of a UI message stream, whose last event is `[DONE]`. */
function readChunks(stream: string): Chunk[] {
  const events = stream.split("\n\n").filter(Boolean)
  expect(events.pop()).toBe("data: [DONE]")
  return events.map((event) => {
    expect(event).toMatch(/^data: \{/)
    return JSON.parse(event.slice("data: ".length)) as Chunk
  })
}

function textOf(chunks: Chunk[]): string {
  return chunks
    .filter(({ type }) => type === "text-delta")
    .map(({ delta }) => delta)
    .join("")
}
