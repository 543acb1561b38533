import { describe, expect, test } from "vitest"
import { post } from "../support/api.ts"
import { checkResponse } from "../support/openapi.ts"
import { withTideline } from "../support/with-tideline.ts"

const { app, ada } = withTideline({ people: { ada: { email: "ada@example.org", name: "Ada Lovelace" } } })

const UNKNOWN = "01a1fabb-7bb3-7c55-803b-f2a3db625462"

// `ada` checks every response against the document; the test itself only checks that these
// responses occur.
describe("the OpenAPI document describes", () => {
  test("a conversation, from creation to deletion", async () => {
    const created = await ada("/api/chat/threads", post({ title: "Tides" }))
    expect(created.status).toBe(201)
    const { thread } = await created.json()
    const path = `/api/chat/threads/${thread._id}`
    const question = { id: "q1", role: "user", parts: [{ type: "text", text: "/tool currentTime" }] }

    expect(await statusOf(ada("/api/chat", post({ threadId: thread._id, messages: [question] })))).toBe(200)
    expect(await statusOf(ada("/api/chat/threads"))).toBe(200)
    expect(await statusOf(ada("/api/chat/threads?limit=1"))).toBe(200)
    expect(await statusOf(ada(path))).toBe(200)
    const messages = await ada(`${path}/messages`)
    expect((await messages.json()).entries).toHaveLength(2)
    expect(await statusOf(ada(path, { ...post({ title: "Currents" }), method: "PATCH" }))).toBe(200)
    expect(await statusOf(ada(path, { ...post({ title: "" }), method: "PATCH" }))).toBe(400)
    expect(await statusOf(ada(`${path}/stop`, { method: "POST" }))).toBe(200)
    expect(await statusOf(ada(path, { method: "DELETE" }))).toBe(204)
    expect(await statusOf(ada(path))).toBe(404)
  })

  test("a file, from upload to deletion", async () => {
    const uploaded = await ada("/api/files?name=notes.txt", { method: "POST", body: "High water at noon." })
    expect(uploaded.status).toBe(201)
    const path = `/api/files/${(await uploaded.json()).files[0]._id}`

    const whole = await ada(path)
    expect(await whole.text()).toBe("High water at noon.")
    const etag = whole.headers.get("etag") ?? ""
    expect(await statusOf(ada(path, { method: "HEAD" }))).toBe(200)
    expect(await statusOf(ada(path, { headers: { "If-None-Match": etag } }))).toBe(304)
    expect(await statusOf(ada(path, { headers: { Range: "bytes=0-3" } }))).toBe(206)
    expect(await statusOf(ada(path, { headers: { Range: "bytes=900-" } }))).toBe(416)
    expect(await statusOf(ada("/api/files?sort=name&q=note&limit=1"))).toBe(200)
    expect(await statusOf(ada("/api/files?cursor=made-up"))).toBe(400)
    expect(await statusOf(ada(path, { ...post({ fileName: "tides.txt" }), method: "PATCH" }))).toBe(200)
    expect(await statusOf(ada(path, { ...post({ fileName: "" }), method: "PATCH" }))).toBe(400)
    expect(await statusOf(ada(path, { method: "DELETE" }))).toBe(204)
    expect(await statusOf(ada(path))).toBe(404)
    expect(await statusOf(ada("/api/files", { method: "POST" }))).toBe(400)
  })

  test.each([
    ["GET", "/api/chat/threads"],
    ["POST", "/api/chat/threads"],
    ["GET", `/api/chat/threads/${UNKNOWN}`],
    ["PATCH", `/api/chat/threads/${UNKNOWN}`],
    ["DELETE", `/api/chat/threads/${UNKNOWN}`],
    ["GET", `/api/chat/threads/${UNKNOWN}/messages`],
    ["POST", `/api/chat/threads/${UNKNOWN}/stop`],
    ["GET", "/api/files"],
    ["POST", "/api/files"],
    ["GET", `/api/files/${UNKNOWN}`],
    ["PATCH", `/api/files/${UNKNOWN}`],
    ["DELETE", `/api/files/${UNKNOWN}`],
    ["POST", "/api/users/sync"],
  ])("%s %s, refused to a visitor and to another site", async (method, path) => {
    const url = new URL(path, app.origin)
    const visitor = await fetch(url, { method, redirect: "manual" })
    await checkResponse(url, method, visitor)
    expect(visitor.status).toBe(401)
    if (method === "GET") return
    const forged = await ada(path, { method, headers: { Origin: "https://evil.example" } })
    expect(forged.status).toBe(403)
  })
})

test.each([
  ["/api/spaces", 200],
  ["/api/spaces/", 200],
  ["/API/Spaces", 200],
  ["/api/spaces/x/y/z", 404],
])("an operation is found as every route is: %s answers %i", async (path, status) => {
  const headers = { Authorization: `Bearer ${await ada.apiKey()}` }
  expect((await fetch(new URL(path, app.origin), { headers })).status).toBe(status)
})

describe("the check against the document", () => {
  const limits = { "X-RateLimit-Remaining": "29", "X-RateLimit-Reset": "1795208012171" }
  const body = { status: "ok", timestamp: "2026-11-20T20:52:32.171Z", uptime: 1.5 }

  test("accepts what is described", async () => {
    await checkResponse(health(), "GET", Response.json(body, { headers: limits }))
  })

  test.each([
    ["another status", () => Response.json(body, { headers: limits, status: 418 }), "this status"],
    ["a missing header", () => Response.json(body), "X-RateLimit-Remaining is missing"],
    [
      "a header that is not a number",
      () => Response.json(body, { headers: { ...limits, "X-RateLimit-Reset": "soon" } }),
      "X-RateLimit-Reset is not as described",
    ],
    ["a missing field", () => Response.json({ status: "ok" }, { headers: limits }), "the body"],
    [
      "an extra field",
      () => Response.json({ ...body, secret: 1 }, { headers: limits }),
      "additional properties",
    ],
    ["a field of another type", () => Response.json({ ...body, uptime: "1" }, { headers: limits }), "uptime"],
    [
      "another format",
      () => new Response("ok", { headers: { ...limits, "content-type": "text/plain" } }),
      "the type text/plain",
    ],
  ])("finds %s", async (_what, answer, words) => {
    await expect(checkResponse(health(), "GET", answer())).rejects.toThrow(words)
  })

  test("finds a reason that the declared operation does not name", async () => {
    const leaving = new URL(`/api/spaces/${UNKNOWN}/leave`, app.origin)
    await checkResponse(leaving, "POST", refuseFor("space-owner-leaving"))
    await expect(checkResponse(leaving, "POST", refuseFor("space-slug-taken"))).rejects.toThrow(
      "space-slug-taken",
    )
  })

  test("finds an undocumented path", async () => {
    const response = Response.json({ error: "x" })
    await expect(checkResponse(new URL("/api/secret", app.origin), "GET", response)).rejects.toThrow(
      "this address",
    )
  })

  test("finds an undocumented method", async () => {
    await expect(checkResponse(health(), "DELETE", Response.json(body))).rejects.toThrow("it should be 405")
  })
})

function health() {
  return new URL("/api/health", app.origin)
}

async function statusOf(answer: Promise<Response>): Promise<number> {
  const response = await answer
  await response.arrayBuffer()
  return response.status
}

function refuseFor(reason: string): Response {
  return Response.json({ error: "No.", reason }, { status: 409 })
}
