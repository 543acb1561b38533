import { beforeEach, describe, expect, it } from "vitest"
import type { ThreadSummary } from "#server/chat/contract.ts"
import type { Asked } from "#server/chat/request.ts"
import type { EntryPage, ReplacedPage } from "#server/chat/read-operations.ts"
import { post, postAsync } from "../support/api.ts"
import { ada as adaLovelace, grace as graceHopper, type Person } from "../support/people.ts"
import { openScriptedGateway } from "../support/scripted-gateway.ts"
import { withResource } from "../support/with-resource.ts"
import { withTideline } from "../support/with-tideline.ts"

const gateway = withResource(openScriptedGateway)
const { app, ada, grace } = withTideline({
  settings: () => ({ ...gateway.env, CHAT_MODEL: "example/model-1", CHAT_RATE_LIMIT: "10000" }),
  people: { ada: adaLovelace, grace: graceHopper },
})

beforeEach(() => {
  gateway.answers.length = 0
})

describe("a message sent with a preference not to wait", () => {
  it("returns ids immediately, and its reply later in the records", async () => {
    const threadId = await makeThread(ada)
    const response = await ada("/api/chat", postAsync(question(threadId, "q1", "How deep is the sea?")))
    expect(response.status).toBe(202)
    expect(response.headers.get("preference-applied")).toBe("respond-async")
    expect(response.headers.get("x-ai-model")).toBe("example/model-1")
    expect(response.headers.get("x-ratelimit-remaining")).toMatch(/^\d+$/)
    const asked = (await response.json()) as Asked
    expect(asked.threadId).toBe(threadId)
    expect(await messages(threadId)).toMatchObject([
      { _id: asked.questionId, role: "user", content: "How deep is the sea?" },
      { _id: asked.answerId, role: "assistant", content: "", turn: { status: "running" } },
    ])
    await answerWith("Deep.")
    await expect
      .poll(async () => (await messages(threadId))[1])
      .toMatchObject({
        content: "Deep.",
        turn: { status: "completed" },
      })
    const again = postAsync(question(threadId, "q1", "How deep is the sea?"))
    expect(await (await ada("/api/chat", again)).json()).toEqual(asked)
  })

  it.each(["return=minimal, respond-async", "Respond-Async; foo=1", "wait=10,respond-async"])(
    "may state it as one of several preferences: %s",
    async (prefer) => {
      const init = postAsync(question(await makeThread(ada), "q1"))
      const response = await ada("/api/chat", { ...init, headers: { ...JSON_TYPE, Prefer: prefer } })
      expect(response.status).toBe(202)
      await answerWith("Deep.")
    },
  )

  it.each(["return=minimal", "respond-asynchronously", "x=respond-async"])(
    "is streamed if it states anything else: %s",
    async (prefer) => {
      const init = post(question(await makeThread(ada), "q1"))
      const asking = ada("/api/chat", { ...init, headers: { ...JSON_TYPE, Prefer: prefer } })
      await answerWith("Deep.")
      const response = await asking
      expect(response.status).toBe(200)
      expect(await response.text()).toMatch(/data: \[DONE\]\n\n$/)
    },
  )

  it("is streamed if there is no conversation to store the reply in", async () => {
    const { messages: posted } = question("", "q1")
    const asking = ada("/api/chat", postAsync({ messages: posted }))
    await answerWith("Deep.")
    expect((await asking).headers.get("content-type")).toBe("text/event-stream")
    await (await asking).text()
  })

  it("receives the same refusals as others", async () => {
    const threadId = await makeThread(ada)
    const answers = await Promise.all([
      ada("/api/chat", postAsync(question(crypto.randomUUID(), "q1"))),
      grace("/api/chat", postAsync(question(threadId, "q1"))),
      ada("/api/chat", postAsync({ threadId, messages: [] })),
      ada("/api/chat", postAsync("no object")),
      fetch(`${app.origin}/api/chat`, postAsync(question(threadId, "q1"))),
    ])
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 400, 400, 401])
    expect(answers.map(({ headers }) => headers.get("preference-applied"))).toEqual(answers.map(() => null))
    expect(await messages(threadId)).toEqual([])
  })
})

describe("a message that creates its conversation", () => {
  it("is stored with it by one request, which can be repeated", async () => {
    const body = first()
    const response = await ada("/api/chat", postAsync(body))
    expect(response.status).toBe(202)
    const asked = (await response.json()) as Asked
    await answerWith("Deep.")
    expect(asked.threadId).toBe(body.threadId)
    await expect.poll(() => contents(body.threadId)).toEqual(["How deep is the sea?", "Deep."])
    expect(await (await ada("/api/chat", postAsync(body))).json()).toEqual(asked)
    expect(await contents(body.threadId)).toHaveLength(2)
    expect((await titles(ada))[0]).toBe("How deep is the sea?")
  })

  it("continues a conversation that has the id already", async () => {
    const threadId = await makeThread(ada)
    expect((await ada("/api/chat", postAsync({ ...first(), threadId }))).status).toBe(202)
    await answerWith("Deep.")
    const { thread } = (await (await ada(`/api/chat/threads/${threadId}`)).json()) as {
      thread: ThreadSummary
    }
    expect(thread.title).toBe("The sea")
  })

  it("creates none if it is refused", async () => {
    const before = await titles(ada)
    const theirs = await makeThread(grace)
    const trashed = await makeThread(ada)
    await ada(`/api/chat/threads/${trashed}`, { method: "DELETE" })
    for (const [change, status, error] of [
      [{ threadId: theirs }, 404, "There is no such conversation"],
      [{ threadId: trashed }, 404, "There is no such conversation"],
      [{ replaces: crypto.randomUUID() }, 404, "There is no such question"],
      [{ threadId: "mine" }, 400, "createThread needs a threadId"],
      [{ threadId: undefined }, 400, "createThread needs a threadId"],
      [{ createThread: "yes" }, 400, "Expected a JSON object"],
    ] as const) {
      const response = await ada("/api/chat", postAsync({ ...first(), ...change }))
      expect([change, response.status]).toEqual([change, status])
      expect(((await response.json()) as { error: string }).error).toContain(error)
    }
    expect(await titles(ada)).toEqual(before)
    expect((await grace(`/api/chat/threads/${theirs}/messages`)).status).toBe(200)
  })

  it("counts among the replies that one person may have in progress", async () => {
    const posted: Response[] = []
    for (let i = 0; i < 4; i++)
      posted.push(await ada("/api/chat", postAsync(first(`q${i}`, `Question ${i}`))))
    expect(posted.map(({ status }) => status)).toEqual([202, 202, 202, 409])
    expect((await titles(ada)).slice(0, 3)).toEqual(["Question 2", "Question 1", "Question 0"])
    await gateway.asked(2)
    for (const answer of gateway.answers) answer.finish()
  })
})

describe("a message posted twice with one id", () => {
  it("is stored once, and the second request waits for the first", async () => {
    const threadId = await makeThread(ada)
    const posted = await Promise.all([1, 2].map(() => ada("/api/chat", postAsync(question(threadId, "q1")))))
    expect(posted.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([202, 409])
    await answerWith("Deep.")
    expect(await messages(threadId)).toHaveLength(2)
    expect(gateway.answers).toHaveLength(1)
  })
})

describe("a message that replaces another", () => {
  it("takes its place, and everything after it is removed", async () => {
    const threadId = await makeThread(ada)
    await exchange(threadId, "q1", "First")
    const second = await exchange(threadId, "q2", "Second")
    await exchange(threadId, "q3", "Third")
    const asked = await exchange(threadId, "q4", "Second, put better", second.questionId)
    expect(await contents(threadId)).toEqual([
      "First",
      "To First.",
      "Second, put better",
      "To Second, put better.",
    ])

    // The sender got no response, and sends it again.
    const again = { ...question(threadId, "q4", "Second, put better"), replaces: second.questionId }
    expect(await (await ada("/api/chat", postAsync(again))).json()).toEqual(asked)
    expect(await messages(threadId)).toHaveLength(4)
  })

  it("keeps what it replaced, linked to the current message", async () => {
    const threadId = await makeThread(ada)
    await exchange(threadId, "q1", "First")
    const second = await exchange(threadId, "q2", "Second")
    await exchange(threadId, "q3", "Third")
    const better = await exchange(threadId, "q4", "Second, put better", second.questionId)
    const best = await exchange(threadId, "q5", "Second, put best", better.questionId)
    expect((await messages(threadId)).map(({ edited }) => edited)).toEqual([false, false, true, false])

    const { entries, earlierCursor } = await replaced(threadId, best.questionId)
    expect(entries.map(({ content }) => content)).toEqual([
      "Second",
      "To Second.",
      "Third",
      "To Third.",
      "Second, put better",
      "To Second, put better.",
    ])
    expect(entries[0]).toMatchObject({ _id: second.questionId, role: "user", turn: null })
    expect(entries[1]).toMatchObject({ _id: second.answerId, turn: { status: "completed", parts: null } })
    const edits = entries.map(({ replacedAt }) => replacedAt)
    expect(new Set(edits.slice(0, 4)).size).toBe(1)
    expect(edits[4]).toBeGreaterThan(edits[0] ?? 0)
    expect(earlierCursor).toBeNull()

    const latest = await replaced(threadId, best.questionId, "?limit=4")
    expect(latest.entries).toEqual(entries.slice(2))
    const rest = await replaced(threadId, best.questionId, `?limit=4&cursor=${latest.earlierCursor}`)
    expect(rest).toEqual({ entries: entries.slice(0, 2), earlierCursor: null })
  })

  it("shows what it replaced to its owner only, and nothing for a message that replaced none", async () => {
    const threadId = await makeThread(ada)
    const { questionId } = await exchange(threadId, "q1", "First")
    const better = await exchange(threadId, "q2", "First, put better", questionId)
    const path = (id: string) => `/api/chat/threads/${threadId}/messages/${id}/replaced`
    const statuses = await Promise.all([
      grace(path(better.questionId)),
      ada(path(questionId)),
      ada(path("nonsense")),
      ada(`/api/chat/threads/${crypto.randomUUID()}/messages/${better.questionId}/replaced`),
      fetch(app.origin + path(better.questionId)),
      ada(path(better.questionId)),
    ])
    expect(statuses.map(({ status }) => status)).toEqual([404, 404, 404, 404, 401, 200])
  })

  it("may be the message itself, with its own id", async () => {
    const threadId = await makeThread(ada)
    const { questionId } = await exchange(threadId, "q1", "First")
    await exchange(threadId, "q1", "First, put better", questionId)
    expect(await contents(threadId)).toEqual(["First, put better", "To First, put better."])
  })

  it("is refused if there is no such message, and removes nothing", async () => {
    const threadId = await makeThread(ada)
    const { questionId, answerId } = await exchange(threadId, "q1", "First")
    const elsewhere = await exchange(await makeThread(ada), "q1", "Elsewhere")
    const before = await messages(threadId)
    for (const [replaces, status, error] of [
      [elsewhere.questionId, 404, "There is no such question"],
      [answerId, 404, "There is no such question"],
      [crypto.randomUUID(), 404, "There is no such question"],
      ["nonsense", 404, "There is no such question"],
      ["", 404, "There is no such question"],
      ["\0", 404, "There is no such question"],
      [5, 400, "Expected a JSON object"],
      [{ _id: questionId }, 400, "Expected a JSON object"],
    ] as const) {
      const response = await ada("/api/chat", postAsync({ ...question(threadId, "q2"), replaces }))
      expect([replaces, response.status]).toEqual([replaces, status])
      expect(((await response.json()) as { error: string }).error).toContain(error)
    }
    expect(await messages(threadId)).toEqual(before)

    const graces = await makeThread(grace)
    const hers = await grace("/api/chat", postAsync({ ...question(graces, "q1"), replaces: questionId }))
    expect(hers.status).toBe(404)
    const here = await grace("/api/chat", postAsync({ ...question(threadId, "q2"), replaces: questionId }))
    expect(here.status).toBe(404)
    expect(await messages(threadId)).toEqual(before)
  })

  it("requires a conversation", async () => {
    const { messages: posted } = question("", "q1")
    const response = await ada("/api/chat", post({ messages: posted, replaces: crypto.randomUUID() }))
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      error: "replaces needs a threadId: it names a question of a conversation.",
    })
  })

  it("is refused while a reply is being generated", async () => {
    const threadId = await makeThread(ada)
    const asked = (await (await ada("/api/chat", postAsync(question(threadId, "q1")))).json()) as Asked
    const replacing = { ...question(threadId, "q2"), replaces: asked.questionId }
    expect((await ada("/api/chat", postAsync(replacing))).status).toBe(409)
    await answerWith("Deep.")
    await expect.poll(async () => (await messages(threadId))[1]?.turn?.status).toBe("completed")
    expect(await contents(threadId)).toEqual(["A question", "Deep."])
  })
})

describe("a user's concurrent replies", () => {
  it("are limited to three, however many messages arrive together, and other users do not count", async () => {
    const threads = await Promise.all(Array.from({ length: 10 }, () => makeThread(ada)))
    const posted = await Promise.all(threads.map((id) => ada("/api/chat", postAsync(question(id, "q1")))))
    const taken = posted.filter(({ status }) => status === 202)
    const refused = posted.filter(({ status }) => status === 409)
    expect([taken.length, refused.length]).toEqual([3, 7])
    expect(await refused[0]?.json()).toEqual({
      error:
        "3 replies are being generated in your other conversations. Wait for one of them, or stop it first.",
      reason: "too-many-replies-elsewhere",
      values: { running: 3 },
    })
    expect((await grace("/api/chat", postAsync(question(await makeThread(grace), "q1")))).status).toBe(202)

    const running = threads[posted.findIndex(({ status }) => status === 202)]
    await ada(`/api/chat/threads/${running}/stop`, { method: "POST" })
    const free = threads[posted.findIndex(({ status }) => status === 409)] ?? ""
    expect((await ada("/api/chat", postAsync(question(free, "q1")))).status).toBe(202)
    await gateway.asked(4)
    for (const answer of gateway.answers) answer.finish()
  })
})

const JSON_TYPE = { "Content-Type": "application/json" }

async function makeThread(person: Person) {
  const response = await person("/api/chat/threads", post({ title: "The sea" }))
  return ((await response.json()) as { thread: ThreadSummary }).thread._id
}

function question(threadId: string, id: string, text = "A question") {
  return { threadId, messages: [{ id, role: "user", parts: [{ type: "text", text }] }] }
}

/** A message that creates its conversation. */
const first = (id = "q1", text = "How deep is the sea?") => ({
  ...question(crypto.randomUUID(), id, text),
  createThread: true,
})

async function titles(person: Person) {
  const { threads } = (await (await person("/api/chat/threads")).json()) as { threads: ThreadSummary[] }
  return threads.map(({ title }) => title)
}

/** Responds to the latest request to the model. */
async function answerWith(text: string) {
  await gateway.asked(0)
  const answer = gateway.answers.at(-1)
  answer?.say(text)
  answer?.finish()
}

/** A message of Ada's, and the whole reply. */
async function exchange(threadId: string, id: string, text: string, replaces?: string) {
  gateway.answers.length = 0
  const body = { ...question(threadId, id, text), ...(replaces && { replaces }) }
  const response = await ada("/api/chat", postAsync(body))
  expect(response.status).toBe(202)
  await answerWith(`To ${text}.`)
  await expect.poll(async () => (await messages(threadId)).at(-1)?.turn?.status).toBe("completed")
  return (await response.json()) as Asked
}

async function messages(threadId: string) {
  const response = await ada(`/api/chat/threads/${threadId}/messages`)
  return ((await response.json()) as EntryPage).entries
}

async function replaced(threadId: string, questionId: string, query = "") {
  const response = await ada(`/api/chat/threads/${threadId}/messages/${questionId}/replaced${query}`)
  expect(response.status).toBe(200)
  return (await response.json()) as ReplacedPage
}

async function contents(threadId: string) {
  return (await messages(threadId)).map(({ content }) => content)
}
