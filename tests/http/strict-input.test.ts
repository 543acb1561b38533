// cspell:ignore maxdownloads lastmodified newst srot
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { post } from "../support/api.ts"
import { openLiveSocket, realtimeToken, type LiveSocket } from "../support/live.ts"
import { withTideline } from "../support/with-tideline.ts"

interface Operation {
  parameters?: { name: string; in: string }[]
  requestBody?: { content: Record<string, unknown> }
  responses: Record<string, unknown>
}

/** Their query and body are defined by somebody else, or by the contract, which names no more refusals. */
const OF_OTHERS = new Set(["/api/health", "/api/chat", "/api/email", "/sitemap.xml", "/robots.txt"])
const SOMETHING = "01a1fabb-7bb3-7c55-803b-f2a3db625462"

let socket: LiveSocket
let operations: { method: string; path: string; operation: Operation }[]

const { app, sql, ada } = withTideline({
  settings: { SPACES: "on" },
  people: { ada: { email: "ada@example.org", name: "Ada Lovelace" } },
})

beforeAll(async () => {
  socket = await openLiveSocket(app, await realtimeToken(ada))
  const document = await (await ada("/api/openapi.json")).json()
  const items = Object.entries<Record<string, Operation>>(document.paths)
  operations = items
    .filter(([path]) => !OF_OTHERS.has(path))
    .flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: path.replaceAll(/\{\w+\}/g, SOMETHING),
        operation,
      })),
    )
})

afterAll(async () => {
  socket.close()
})

describe("every operation of the HTTP API", () => {
  it("refuses a query parameter that it does not describe, and names those that it does", async () => {
    expect(operations.length).toBeGreaterThan(60)
    for (const { method, path, operation } of operations) {
      const response = await ada(`${path}?nonsense=1`, { method })
      expect([method, path, response.status]).toEqual([method, path, 400])
      if (method === "HEAD") continue
      const known = (operation.parameters ?? []).filter((each) => each.in === "query").map(({ name }) => name)
      const { error, reason } = await response.json()
      expect([path, reason]).toEqual([path, "parameter-unknown"])
      const [, listed = ""] = /^Unknown query parameter "nonsense"\. Known: (.*)\.$/.exec(error) ?? []
      expect([method, path, listed.split(", ").toSorted()]).toEqual([
        method,
        path,
        known.length === 0 ? ["none"] : known.toSorted(),
      ])
    }
  })

  it("refuses a field of its JSON body that it does not describe", async () => {
    const takingJson = operations.filter(
      ({ operation }) => operation.requestBody?.content["application/json"],
    )
    expect(takingJson.length).toBeGreaterThan(15)
    for (const { method, path } of takingJson) {
      const response = await ada(path, { ...post({ nonsense: 1 }), method })
      const { error } = await response.json()
      expect([method, path, response.status, error]).toEqual([
        method,
        path,
        400,
        expect.stringMatching(/^Unknown field "nonsense"\. Known: \w+/),
      ])
    }
  })
})

describe("a misspelt field", () => {
  it.each([
    ["expires", 1, "expiresAt"],
    ["pass", "secret", "password"],
    ["maxdownloads", 1, "maxDownloads"],
    ["max_downloads", 1, "maxDownloads"],
  ])("%s makes no link", async (field, value, meant) => {
    const path = `/api/files/${await upload()}/shares`
    const response = await ada(path, post({ [field]: value }))
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      error: `Unknown field "${field}". Did you mean "${meant}"?`,
      reason: "field-misspelt",
      values: { field, meant },
    })
    expect(await (await ada(path)).json()).toEqual({ shares: [] })
  })

  it("changes no record, although others of its fields are right", async () => {
    const { thread } = await (await ada("/api/chat/threads", post({ title: "Tides" }))).json()
    const path = `/api/chat/threads/${thread._id}`
    const renamed = await ada(path, { ...post({ title: "Currents", spaceID: SOMETHING }), method: "PATCH" })
    expect([renamed.status, (await renamed.json()).error]).toEqual([
      400,
      'Unknown field "spaceID". Known: title, peopleOnly.',
    ])
    expect((await (await ada(path)).json()).thread.title).toBe("Tides")
  })

  it("of a form that asks for a zip is refused too", async () => {
    const body = new URLSearchParams({ all: "1", spaceID: SOMETHING })
    const response = await ada("/api/files/archive", { method: "POST", body })
    expect([response.status, (await response.json()).error]).toEqual([
      400,
      'Unknown field "spaceID". Did you mean "spaceId"?',
    ])
  })

  it("of a form with files is refused, and fields of its own are ignored", async () => {
    const body = new FormData()
    body.append("description", "Tides")
    body.append("lastmodified", "1795207953555")
    body.append("file", new Blob(["b"]), "b.txt")
    const response = await ada("/api/files", { method: "POST", body })
    expect([response.status, (await response.json()).error]).toEqual([
      400,
      'Unknown field "lastmodified". Did you mean "lastModified"?',
    ])
  })

  it("that is as long as the body is cut", async () => {
    const response = await ada("/api/spaces", post({ ["x".repeat(200_000)]: 1 }))
    expect((await response.json()).error).toBe(`Unknown field "${"x".repeat(60)}". Known: name.`)
  })

  it("in the arguments of a query or mutation is named", async () => {
    const query = await socket.query("files.getUsage", { spaceId: SOMETHING })
    expect(query).toMatchObject({
      error: {
        code: "invalid",
        message: 'The arguments of files.getUsage have the wrong form. Unknown field "spaceId". Known: none.',
      },
    })
    const mutation = await socket.mutate("files.rename", { fileId: SOMETHING, filename: "a.txt" })
    expect(mutation).toMatchObject({
      error: { message: 'Unknown field "filename". Did you mean "fileName"?', reason: "field-misspelt" },
    })
  })
})

describe("a query parameter of the API", () => {
  it.each([
    ["/api/files?q=" + "x".repeat(201), "A search can have 200 characters at most."],
    ["/api/files?sort=newst", /^The query parameter "sort" has to be newest, oldest, .*smallest\.$/],
    ["/api/files?type=picture", /^The query parameter "type" has to be image, .*other\.$/],
    ["/api/files?limit=0", 'The query parameter "limit" has to be a whole number from 1 to 100.'],
    ["/api/files?limit=101", 'The query parameter "limit" has to be a whole number from 1 to 100.'],
    ["/api/files?limit=1e1", 'The query parameter "limit" has to be a whole number from 1 to 100.'],
    ["/api/files?everywhere=yes", 'The query parameter "everywhere" has to be true.'],
    ["/api/files?sort=name&sort=newest", 'The query parameter "sort" is there more than once.'],
    ["/api/files?srot=name", 'Unknown query parameter "srot". Did you mean "sort"?'],
    ["/api/files?Limit=2", 'Unknown query parameter "Limit". Did you mean "limit"?'],
    ["/api/files/trash?limit=many", 'The query parameter "limit" has to be a whole number from 1 to 100.'],
    ["/api/chat/threads?limit=-1", 'The query parameter "limit" has to be a whole number from 1 to 100.'],
    ["/api/chat/threads?cursor=made-up", "The cursor is not one that this list gave."],
    [`/api/chat/threads/${SOMETHING}/messages?cursor=7`, "The cursor is not one that this list gave."],
    [`/api/chat/threads/${SOMETHING}/export?format=pdf`, "The format is markdown or json."],
    ["/api/notifications?unread=1", 'The query parameter "unread" has to be true.'],
    ["/api/notifications?cursor=7", "The cursor is not one that this list gave."],
  ])("is refused with a reason: %s", async (path, sentence) => {
    const response = await ada(path)
    const { error } = await response.json()
    expect([response.status, error]).toEqual([
      400,
      typeof sentence === "string" ? sentence : expect.stringMatching(sentence),
    ])
  })

  it("that asks for a deletion in other words deletes nothing", async () => {
    const path = `/api/files/${await upload()}`
    const response = await ada(`${path}?permanently=true`, { method: "DELETE" })
    expect([response.status, (await response.json()).error]).toEqual([
      400,
      'The query parameter "permanently" has to be 1.',
    ])
    expect((await ada(path)).status).toBe(200)
  })

  it("may be added to what the contract or somebody else defines", async () => {
    expect((await ada("/api/health?probe=1")).status).toBe(200)
    const message = { id: "1", role: "user", parts: [{ type: "text", text: "Hello" }] }
    const body = { id: "chat", messages: [message], temperature: 1 }
    const reply = await ada("/api/chat?from=somewhere", post(body))
    await reply.text()
    expect(reply.status).toBe(200)
  })

  it("does not close a page, on which a known one that is unfit counts as absent", async () => {
    await sql`update users set onboarding_completed = true`
    for (const query of ["utm_source=mail", "sort=newst&type=picture&limit=0", `q=${"x".repeat(201)}`]) {
      const response = await ada(`/dashboard/files?${query}`)
      await response.text()
      expect([query, response.status]).toEqual([query, 200])
    }
  })
})

async function upload(): Promise<string> {
  const response = await ada("/api/files?name=a.txt", { method: "POST", body: crypto.randomUUID() })
  return (await response.json()).files[0]._id
}
