import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest"
import type { ThreadSummary } from "#server/chat/contract.ts"
import type { Asked } from "#server/chat/request.ts"
import type { EntryPage } from "#server/chat/read-operations.ts"
import { post, postAsync } from "../support/api.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { openLiveSocket, realtimeToken } from "../support/live.ts"
import { ada, signIn, signUp, type Person } from "../support/people.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { openScriptedGateway } from "../support/scripted-gateway.ts"
import { watchThread } from "../support/watched-thread.ts"
import { withResource } from "../support/with-resource.ts"

const gateway = withResource(openScriptedGateway)
const database = withResource(createTestDatabase)
let b: TidelineApp
let atA: Person
let atB: Person
let a: TidelineApp

const limits = { CHAT_RATE_LIMIT: "10000", CHAT_TURNS_AT_ONCE: "100" }

beforeAll(async () => {
  b = await startBeside()
  await signUp(b, ada)
  atB = await signIn(b, ada)
})
afterAll(() => b.stop())
beforeEach(() => {
  gateway.answers.length = 0
})

/** Another process on the same database. */
function startBeside() {
  return startTideline({ DATABASE_URL: database.url, ...gateway.env, ...limits })
}

describe("two processes on one database", () => {
  beforeAll(async () => {
    a = await startBeside()
    atA = await signIn(a, ada)
  })
  afterAll(() => a.stop())

  it("show on one the reply that the other generates, as chunks and then in its message, never both", async () => {
    const threadId = await makeThread(atA)
    const watched = await watch(threadId)
    const asked = await ask(atA, threadId, "q1")
    const answer = await gateway.asked(0)
    answer.say("The sea ")
    await watched.until(({ text }) => text === "The sea ")
    answer.say("is deep")
    await watched.until(({ text }) => text === "The sea is deep")
    expect(watched.now()).toMatchObject({ status: "running", answerId: asked.answerId })
    // A commit reaches the log, and so the screen, a moment before PostgreSQL shows it to new
    // queries.
    await expect
      .poll(async () => (await messages(atB, threadId)).at(-1))
      .toMatchObject({ content: "The sea is deep", turn: { status: "running" } })
    answer.say(" and wide.")
    answer.finish()
    await watched.until(({ status }) => status === "completed")
    expect(watched.now()).toMatchObject({ text: "The sea is deep and wide.", chunks: 0 })
    let before = ""
    for (const { text } of watched.history()) {
      expect(text.startsWith(before), `${text} after ${before}`).toBe(true)
      before = text
    }
  })

  it.each([
    ["its endpoint", (id: string) => atB(`/api/chat/threads/${id}/stop`, { method: "POST" })],
    ["its named function", (id: string) => callStop(id)],
  ])("stop on one, by %s, a reply that runs on the other", async (_, stop) => {
    const threadId = await makeThread(atA)
    const watched = await watch(threadId)
    await ask(atA, threadId, "q1")
    const answer = await gateway.asked(0)
    answer.say("The sea is")
    await watched.until(({ text }) => text === "The sea is")
    const told = await stop(threadId)
    expect(told instanceof Response ? { value: await told.json() } : told).toMatchObject({
      value: { stopped: true },
    })
    expect(await watched.until(({ status }) => status !== "running")).toMatchObject({
      status: "stopped",
      text: "The sea is",
      chunks: 0,
    })
    await expect.poll(() => answer.aborted).toBe(true)
    expect(await (await atB(`/api/chat/threads/${threadId}/stop`, { method: "POST" })).json()).toEqual({
      stopped: false,
    })
  })

  it("stop a reply whose reader has left one of them, when the next message arrives at the other", async () => {
    const threadId = await makeThread(atA)
    const stream = (await atA("/api/chat", post(question(threadId, "q1")))).body?.getReader()
    const left = await gateway.asked(0)
    left.say("Half a reply")
    await stream?.read()
    await stream?.cancel()
    const next = await atB("/api/chat", post(question(threadId, "q2")))
    expect(next.status).toBe(200)
    const answer = await gateway.asked(1)
    answer.say("The next one.")
    answer.finish()
    expect(await next.text()).toContain("The next one.")
    await expect.poll(() => left.aborted).toBe(true)
    const stored = (await messages(atB, threadId)).map(({ content, turn }) => [content, turn?.status])
    expect(stored[1]).toEqual(["Half a reply", "stopped"])
    expect(stored[3]).toEqual(["The next one.", "completed"])
  })

  it("store forty complete replies for forty people who disconnect at the same moment", async () => {
    const threads = await Promise.all(Array.from({ length: 40 }, () => makeThread(atA)))
    await Promise.all(
      threads.map(async (threadId, index) => {
        const response = await (index % 2 ? atA : atB)("/api/chat", post(question(threadId, "q1")))
        const reader = response.body?.getReader()
        await reader?.read()
        await reader?.cancel()
      }),
    )
    await gateway.asked(39)
    for (const answer of gateway.answers) {
      answer.say("All of it, ")
      answer.say("to the end.")
      answer.finish()
    }
    await Promise.all(
      threads.map(async (threadId) => {
        await expect.poll(() => statusOf(atB, threadId), { timeout: 20_000 }).toBe("completed")
        expect((await messages(atB, threadId)).at(-1)?.content).toBe("All of it, to the end.")
      }),
    )
  })

  it("abort forty requests to the model for forty stops, on whichever process they arrive", async () => {
    const threads = await Promise.all(Array.from({ length: 40 }, () => makeThread(atA)))
    await Promise.all(threads.map((threadId, index) => ask(index % 2 ? atA : atB, threadId, "q1")))
    await gateway.asked(39)
    for (const answer of gateway.answers) answer.say("A beginning")
    const stopped = await Promise.all(
      threads.map(async (threadId, index) => {
        const response = await (index % 4 < 2 ? atA : atB)(`/api/chat/threads/${threadId}/stop`, {
          method: "POST",
        })
        return response.json()
      }),
    )
    expect(stopped).toEqual(threads.map(() => ({ stopped: true })))
    await expect.poll(() => gateway.answers.filter(({ aborted }) => aborted).length).toBe(40)
    for (const threadId of threads) expect(await statusOf(atB, threadId)).toBe("stopped")
  })
})

describe("a process that ends during a reply", () => {
  beforeAll(async () => {
    a = await startBeside()
    atA = await signIn(a, ada)
  })
  afterAll(() => a.stop())

  it("by a kill loses nothing that was shown, and others show the reply as interrupted and regenerate it", async () => {
    const threadId = await makeThread(atA)
    const watched = await watch(threadId)
    await ask(atA, threadId, "q1")
    const answer = await gateway.asked(0)
    answer.talk(10)
    const shown = await watched.until(({ text }) => text.includes("word 100 "))
    process.kill(a.pid, "SIGKILL")
    const kept = await watched.until(({ status }) => status !== "running")
    expect(kept).toMatchObject({ status: "interrupted", chunks: 0 })
    expect(kept.text.startsWith(shown.text)).toBe(true)
    expect(answer.said.startsWith(kept.text)).toBe(true)
    expect((await messages(atB, threadId)).at(-1)).toMatchObject({
      content: kept.text,
      turn: { status: "interrupted" },
    })

    await ask(atB, threadId, "q1")
    const again = await gateway.asked(1)
    again.say("Once more, and whole.")
    again.finish()
    await watched.until(({ status }) => status === "completed")
    expect(watched.now()).toMatchObject({ text: "Once more, and whole.", messages: 2 })
  })

  it("by a shutdown keeps everything it had received", async () => {
    const ending = await startBeside()
    const there = await signIn(ending, ada)
    const threadId = await makeThread(there)
    const watched = await watch(threadId)
    await ask(there, threadId, "q1")
    const answer = await gateway.asked(0)
    answer.talk(10)
    // The model's last chunks may still be on their way to the process when that ends.
    const { text: received } = await watched.until(({ text }) => text.includes("word 20 "))
    await ending.stop()
    expect(await ending.exited).toBe(0)
    const kept = await watched.until(({ status }) => status !== "running")
    expect(kept.status).toBe("interrupted")
    expect(kept.text.startsWith(received)).toBe(true)
    expect(answer.said.startsWith(kept.text)).toBe(true)
    expect(answer.aborted).toBe(true)
  })
})

/** At process B. */
async function watch(threadId: string) {
  const watched = await watchThread(b, atB, threadId)
  onTestFinished(watched.close)
  return watched
}

async function callStop(threadId: string) {
  const socket = await openLiveSocket(b, await realtimeToken(atB))
  onTestFinished(socket.close)
  return socket.mutate("chat.stop", { threadId })
}

async function makeThread(person: Person) {
  const response = await person("/api/chat/threads", post({ title: "The sea" }))
  return ((await response.json()) as { thread: ThreadSummary }).thread._id
}

function question(threadId: string, id: string) {
  return {
    threadId,
    messages: [{ id, role: "user", parts: [{ type: "text", text: "How deep is the sea?" }] }],
  }
}

async function ask(person: Person, threadId: string, id: string): Promise<Asked> {
  const response = await person("/api/chat", postAsync(question(threadId, id)))
  expect(response.status).toBe(202)
  expect(response.headers.get("preference-applied")).toBe("respond-async")
  return (await response.json()) as Asked
}

async function messages(person: Person, threadId: string) {
  const response = await person(`/api/chat/threads/${threadId}/messages`)
  return ((await response.json()) as EntryPage).entries
}

async function statusOf(person: Person, threadId: string) {
  return (await messages(person, threadId)).at(-1)?.turn?.status
}
