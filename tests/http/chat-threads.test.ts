import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { ThreadSummary } from "#server/chat/contract.ts"
import type { EntryPage, SearchResults } from "#server/chat/read-operations.ts"
import { post } from "../support/api.ts"
import { openLiveSocket, realtimeToken, type LiveSocket } from "../support/live.ts"
import { checkResponse } from "../support/openapi.ts"
import { ada as adaLovelace, grace as graceHopper, type Person } from "../support/people.ts"
import { withTideline } from "../support/with-tideline.ts"

const NO_FILE = "There is no file with this id."

let hers: LiveSocket
let graces: LiveSocket

const { app, ada, grace } = withTideline({
  settings: { CHAT_RATE_LIMIT: "10000" },
  people: { ada: adaLovelace, grace: graceHopper },
})

beforeAll(async () => {
  hers = await openLiveSocket(app, await realtimeToken(ada))
  graces = await openLiveSocket(app, await realtimeToken(grace))
})
afterAll(async () => {
  hers.close()
  graces.close()
})

describe("a message with a file over HTTP", () => {
  test("gets a reply, and is shown live with a description of the file", async () => {
    const threadId = await makeThread(ada)
    await hers.subscribe("chat.listMessages", { threadId }, 10)
    const fileId = await upload(ada, "tides.txt", "High water at noon.\nLow water at six.")
    const answer = await ask(ada, { threadId, fileIds: [fileId] })
    expect(await wordsOf(answer)).toContain("tides.txt begins:\n\n> High water at noon.\n")
    const attachment = { fileId, fileName: "tides.txt", mimeType: "text/plain", size: 37 }
    const { entries } = await read<EntryPage>(await ada(`/api/chat/threads/${threadId}/messages`))
    expect(entries[0]).toMatchObject({ attachments: [attachment] })
    expect(entries[1]).toMatchObject({
      attachments: null,
      content: expect.stringContaining("1 file came with it: 1 text/plain."),
    })
    await hers.until(
      ({ name, event }) => name === "commit" && JSON.stringify(event).includes(`"fileId":"${fileId}"`),
    )
    expect(await hers.query("chat.listMessages", { threadId })).toMatchObject({
      value: [{ attachments: null }, { attachments: [attachment] }],
    })
  })

  test("gets a reply outside of any conversation", async () => {
    const fileId = await upload(ada, "once.txt", "Read once.")
    const answer = await ask(ada, { fileIds: [fileId] })
    expect(answer.status).toBe(200)
    expect(await wordsOf(answer)).toContain("1 file came with it: 1 text/plain.")
  })

  test("is refused if the file is somebody else's, deleted, unknown or not a file", async () => {
    const own = await upload(ada, "own.txt", "A secret of Ada.")
    const trashed = await upload(ada, "trashed.txt", "Gone.")
    expect((await ada(`/api/files/${trashed}`, { method: "DELETE" })).status).toBe(204)
    for (const [person, fileId] of [
      [grace, own],
      [ada, trashed],
      [ada, crypto.randomUUID()],
      [ada, "nonsense"],
      [ada, "../own.txt"],
    ] as const) {
      for (const threadId of [undefined, await makeThread(person)]) {
        const refused = await ask(person, { threadId, fileIds: [fileId] })
        expect([refused.status, await refused.json()]).toEqual([
          400,
          { error: NO_FILE, reason: "attachment-unknown" },
        ])
      }
    }
  })

  test.each([
    ["eleven files", Array.from({ length: 11 }, () => reference(crypto.randomUUID()))],
    ["a file by its URL", [{ type: "file", mediaType: "image/png", url: "http://169.254.169.254/" }]],
    ["a file by its bytes", [{ type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA" }]],
    ["a file by a URL in our own part", [{ type: "data-file", data: { url: "http://169.254.169.254/" } }]],
    ["a source", [{ type: "source-url", sourceId: "1", url: "http://169.254.169.254/" }]],
    ["other data", [{ type: "data-secret", data: {} }]],
  ])("is refused with %s", async (_, parts) => {
    const threadId = await makeThread(ada)
    for (const body of [{ threadId }, {}]) {
      const messages = [{ id: "q1", role: "user", parts: [{ type: "text", text: "Read." }, ...parts] }]
      const refused = await ada("/api/chat", post({ ...body, messages }))
      expect(refused.status).toBe(400)
    }
    const { entries } = await read<EntryPage>(await ada(`/api/chat/threads/${threadId}/messages`))
    expect(entries).toEqual([])
  })
})

describe("the conversations' trash", () => {
  test("removes a conversation from every list immediately, and restores it", async () => {
    const threadId = await makeThread(ada, "To be thrown away")
    await (await ask(ada, { threadId })).text()
    await hers.subscribe("chat.listThreads", {}, 20)
    await hers.subscribe("chat.listMessages", { threadId }, 21)
    const address = `/api/chat/threads/${threadId}`
    expect((await ada(address, { method: "DELETE" })).status).toBe(204)
    await hers.until(({ name, event }) => name === "commit" && hasChange(event, [20, "remove", threadId]))
    await hers.until(({ name, event }) => name === "revoked" && JSON.stringify(event).includes("21"))

    for (const path of ["", "/messages", "/export"]) expect((await ada(address + path)).status).toBe(404)
    for (const query of ["chat.listMessages", "chat.listTurns", "chat.listChunks"]) {
      expect(await hers.query(query, { threadId }), query).toMatchObject({ error: { code: "not_found" } })
    }
    expect((await ask(ada, { threadId })).status).toBe(404)
    expect(await threadsOf(ada)).not.toContain(threadId)

    const alreadyReceived = hers.received.length
    const restored = await ada(`${address}/restore`, { method: "POST" })
    expect(await restored.json()).toMatchObject({ thread: { _id: threadId, title: "To be thrown away" } })
    await hers.until(
      ({ name, event }) =>
        name === "commit" &&
        hers.received.findIndex((one) => one.event === event) >= alreadyReceived &&
        JSON.stringify(event).includes('"To be thrown away"'),
    )
    const { entries } = await read<EntryPage>(await ada(`${address}/messages`))
    expect(entries).toHaveLength(2)
    expect((await ada(`${address}/restore`, { method: "POST" })).status).toBe(404)
  })

  test("is listed and emptied through named functions, for its own user", async () => {
    const threadId = await makeThread(ada, "By name")
    expect(await graces.mutate("chat.removeThread", { threadId })).toMatchObject({
      error: { code: "not_found" },
    })
    expect(await hers.mutate("chat.removeThread", { threadId })).toHaveProperty("xid")
    expect(await graces.mutate("chat.restoreThread", { threadId })).toMatchObject({
      error: { code: "not_found" },
    })
    expect(await hers.mutate("chat.renameThread", { threadId, title: "New" })).toMatchObject({
      error: { code: "not_found" },
    })
    expect(await hers.mutate("chat.restoreThread", { threadId })).toMatchObject({
      value: { _id: threadId, title: "By name" },
    })
    expect(await hers.mutate("chat.restoreThread", { threadId })).toMatchObject({
      error: { code: "not_found" },
    })
  })

  test("stops the reply that is being generated", async () => {
    const threadId = await makeThread(ada)
    const answer = await ask(ada, { threadId, text: "/slow 25" })
    expect((await ada(`/api/chat/threads/${threadId}`, { method: "DELETE" })).status).toBe(204)
    expect(await answer.text()).toContain('"stop":"stopped"')
    await ada(`/api/chat/threads/${threadId}/restore`, { method: "POST" })
    const { entries } = await read<EntryPage>(await ada(`/api/chat/threads/${threadId}/messages`))
    expect(entries[1]?.turn?.status).toBe("stopped")
  })
})

describe("a search over HTTP", () => {
  test("finds one's own conversations, and nobody else's", async () => {
    const threadId = await makeThread(ada, "Lighthouses")
    await (await ask(ada, { threadId, text: "Which lamp is the brightest?" })).text()
    const { results } = await search(ada, "brightest LAM")
    expect(results).toMatchObject([{ thread: { _id: threadId, title: "Lighthouses" } }])
    const [result] = results
    expect(result?.snippet.matches.map(([from, to]) => result.snippet.text.slice(from, to))).toEqual([
      "lam",
      "brightest",
    ])
    expect(await search(ada, "lighthouses")).toMatchObject({ results: [{ messageId: null }] })
    expect(await search(grace, "brightest lam")).toEqual({ results: [] })
    expect(await search(grace, "lighthouses")).toEqual({ results: [] })
  })

  test.each([
    ["nothing", "", 200],
    ["no words", "q=", 200],
    ["punctuation only", `q=${encodeURIComponent("?!'\"\\()<>&|:*")}`, 200],
    ["NUL", "q=%00", 200],
    ["bytes that are not text", "q=%ff%fe%80", 200],
    ["operators", `q=${encodeURIComponent("lamp' & !x | 'owner:1':*")}`, 200],
    ["an emoji", `q=${encodeURIComponent("🌊")}`, 200],
    ["two hundred characters", `q=${"x".repeat(200)}`, 200],
    ["one more", `q=${"x".repeat(201)}`, 400],
    ["ten thousand", `q=${"x".repeat(10_000)}`, 400],
    ["several at once", "q=lamp&q=bright", 400],
  ])("responds to %s", async (_, query, status) => {
    const response = await ada(`/api/chat/search?${query}`)
    expect(response.status).toBe(status)
    expect(await response.json()).toHaveProperty(status === 200 ? "results" : "error")
  })
})

describe("an export over HTTP", () => {
  test("is a file named after the title", async () => {
    const threadId = await makeThread(ada, 'Tides "2026"; filename=x')
    await (await ask(ada, { threadId, text: "/markdown" })).text()
    const address = `/api/chat/threads/${threadId}/export`
    const markdown = await ada(address)
    expect(markdown.headers.get("content-disposition")).toBe(
      'attachment; filename="Tides -2026-; filename=x.md"',
    )
    expect(markdown.headers.get("x-content-type-options")).toBe("nosniff")
    expect(markdown.headers.get("cache-control")).toBe("private, no-store")
    expect(await markdown.text()).toContain("```ts\nexport function greet(name: string) {\n")

    const exported = await ada(`${address}?format=json`)
    expect(exported.headers.get("content-type")).toBe("application/json; charset=utf-8")
    const { entries } = await read<EntryPage>(await ada(`/api/chat/threads/${threadId}/messages`))
    expect(await exported.json()).toMatchObject({ thread: { _id: threadId }, messages: entries })

    const head = await fetch(app.origin + address, { method: "HEAD", headers: { cookie: ada.cookie() } })
    expect([head.status, await head.text()]).toEqual([200, ""])
    expect((await ada(`${address}?format=pdf`)).status).toBe(400)
  })
})

describe("a conversation's endpoints", () => {
  test("return nothing to anyone else", async () => {
    const threadId = await makeThread(ada, "A secret of Ada")
    const address = `/api/chat/threads/${threadId}`
    await ada(address, { method: "DELETE" })
    for (const [method, path] of [
      ["POST", `${address}/restore`],
      ["GET", `${address}/export`],
      ["GET", "/api/chat/search?q=secret"],
    ] as const) {
      const visitor = await fetch(app.origin + path, { method })
      expect(visitor.status, path).toBe(401)
      await checkResponse(new URL(path, app.origin), method, visitor)
      const other = await grace(path, { method })
      expect(await other.text(), path).not.toContain("Ada")
      expect(other.status, path).toBe(path.includes("search") ? 200 : 404)
    }
    const forged = await ada(`${address}/restore`, {
      method: "POST",
      headers: { origin: "https://evil.example" },
    })
    expect(forged.status).toBe(403)
    expect((await ada(address)).status).toBe(404)
  })

  test.each([
    ["PUT", "/api/chat/search"],
    ["POST", "/api/chat/search"],
    ["GET", "/api/chat/threads/x/restore"],
    ["DELETE", "/api/chat/threads/x/export"],
  ])("%s %s is not allowed", async (method, path) => {
    const refused = await ada(path, { method })
    expect(refused.status).toBe(405)
    expect(refused.headers.get("allow")).toMatch(/GET|POST/)
  })
})

async function makeThread(person: Person, title?: string) {
  const { thread } = await read<{ thread: ThreadSummary }>(
    await person("/api/chat/threads", post(title === undefined ? {} : { title })),
  )
  return thread._id
}

function ask(
  person: Person,
  {
    threadId,
    text = "Read this.",
    fileIds = [],
  }: { threadId?: string | undefined; text?: string; fileIds?: string[] },
) {
  const parts = [{ type: "text", text }, ...fileIds.map(reference)]
  return person(
    "/api/chat",
    post({ ...(threadId && { threadId }), messages: [{ id: crypto.randomUUID(), role: "user", parts }] }),
  )
}

/** The text of a stream, however it is split into chunks. */
async function wordsOf(stream: Response) {
  const chunks = (await stream.text()).matchAll(/^data: (\{.*\})$/gm)
  return Array.from(chunks, ([, chunk = ""]) => {
    const { type, delta } = JSON.parse(chunk) as { type: string; delta?: string }
    return type === "text-delta" ? delta : ""
  }).join("")
}

function reference(fileId: string) {
  return { type: "data-file", data: { fileId } }
}

async function upload(person: Person, name: string, body: string) {
  const response = await person(`/api/files?name=${name}`, { method: "POST", body })
  const { files } = await read<{ files: { _id: string }[] }>(response)
  return files[0]?._id ?? ""
}

async function search(person: Person, q: string) {
  return read<SearchResults>(await person(`/api/chat/search?${new URLSearchParams({ q })}`))
}

async function threadsOf(person: Person) {
  const { threads } = await read<{ threads: ThreadSummary[] }>(await person("/api/chat/threads"))
  return threads.map(({ _id }) => _id)
}

function hasChange(event: unknown, change: unknown[]) {
  const { changes } = event as { changes: unknown[] }
  return changes.some((one) => JSON.stringify(one) === JSON.stringify(change))
}

async function read<Body>(response: Response) {
  return (await response.json()) as Body
}
