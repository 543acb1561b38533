import { once } from "node:events"
import { createServer, type Server } from "node:http"
import { json } from "node:stream/consumers"
import { afterAll, beforeAll, expect, it } from "vitest"
import { openOtlpTracing } from "#server/adapters/tracing/otlp.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { postJson, signUp } from "../support/people.ts"
import { portOf } from "../support/port-of.ts"

interface Span {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[]
}

const received: { headers: object; resource: unknown; spans: Span[] }[] = []
let collector: Server
let app: TidelineApp

beforeAll(async () => {
  collector = createServer((incoming, outgoing) => {
    void json(incoming).then((body) => {
      const { resourceSpans } = body as {
        resourceSpans: { resource: unknown; scopeSpans: { spans: Span[] }[] }[]
      }
      expect(incoming.url).toBe("/v1/traces")
      for (const { resource, scopeSpans } of resourceSpans)
        received.push({
          headers: incoming.headers,
          resource,
          spans: scopeSpans.flatMap(({ spans }) => spans),
        })
      outgoing.setHeader("content-type", "application/json").end("{}")
    })
  })
  collector.listen(0, "127.0.0.1")
  await once(collector, "listening")
  app = await startTideline({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${portOf(collector)}`,
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20of%20a%20test",
    OTEL_SERVICE_NAME: "tideline-in-a-test",
    TRUSTED_PROXIES: "1",
  })
})

afterAll(async () => {
  await app.stop()
  collector.close()
})

it("behind a trusted proxy a request is a span with its route under the caller's span, with its statements below", async () => {
  const ada = await signUp(app, { name: "Ada", email: "ada@example.org" })
  const traceId = "0af7651916cd43dd8448eb211c80319c"
  const answer = await ada("/api/files?q=secret-of-hers", {
    headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` },
  })
  expect(answer.status).toBe(200)
  const request = await findSpan(({ name }) => name === "GET /api/files")
  expect(request).toMatchObject({ traceId, parentSpanId: "b7ad6b7169203331" })
  expect(textOf(request, "url.path")).toBe("/api/files")
  expect(textOf(request, "tideline.request_id")).toBe(answer.headers.get("x-request-id"))
  const statement = await findSpan((span) => span.parentSpanId === request.spanId && span.name === "SELECT")
  expect(textOf(statement, "db.query.text")).toContain("$1")
  expect(JSON.stringify(received)).not.toContain("secret-of-hers")
  expect(JSON.stringify(received[0]?.resource)).toContain("tideline-in-a-test")
  expect(received[0]?.headers).toMatchObject({ authorization: "Bearer of a test" })
})

it("an untrusted caller decides neither whether a request is traced nor its parent", async () => {
  const endpoint = `http://127.0.0.1:${portOf(collector)}`
  const of = { endpoint, headers: {}, service: "in-a-test", part: 1, version: "0", trustsProxy: null }
  const tracing = openOtlpTracing(of)
  const server = createServer((incoming, outgoing) => {
    void tracing.request(
      incoming,
      outgoing,
      () => "/of-somebody-else",
      async () => void outgoing.end(),
    )
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const traceId = "1bf7651916cd43dd8448eb211c80319c"
  // The last two digits are the flags: not sampled.
  await fetch(`http://127.0.0.1:${portOf(server)}`, {
    headers: { traceparent: `00-${traceId}-b7ad6b7169203331-00` },
  })
  server.close()
  await tracing.close()
  const span = await findSpan(({ name }) => name === "GET /of-somebody-else")
  expect(span.traceId).not.toBe(traceId)
  expect(span.parentSpanId ?? "").toBe("")
})

it("a model's reply is a span under the request, without its text", async () => {
  const grace = await signUp(app, { name: "Grace", email: "grace@example.org" })
  const question = { id: "q", role: "user", parts: [{ type: "text", text: "what she asks in confidence" }] }
  const answer = await postJson(grace, "/api/chat", { messages: [question] })
  expect(answer.status).toBe(200)
  await answer.text()
  const request = await findSpan(({ name }) => name === "POST /api/chat")
  const model = await findSpan(({ name }) => name.startsWith("chat "))
  expect(model.traceId).toBe(request.traceId)
  expect(JSON.stringify(received)).not.toContain("in confidence")
})

function textOf(span: Span, key: string) {
  return span.attributes.find((attribute) => attribute.key === key)?.value.stringValue
}

async function findSpan(matches: (span: Span) => boolean): Promise<Span> {
  const find = () => received.flatMap(({ spans }) => spans).find(matches)
  await expect.poll(find, { timeout: 10_000 }).toBeDefined()
  const found = find()
  if (!found) throw new Error("It was there a moment ago.")
  return found
}
