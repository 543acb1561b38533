import { beforeAll, describe, expect, it } from "vitest"
import { openDatabase } from "#db/client.ts"
import type { ThreadShareSummary } from "#server/chat/contract.ts"
import { replaceFrom } from "#server/chat/replaced.ts"
import type { NewLink } from "#server/links/contract.ts"
import { post } from "../support/api.ts"
import { checkedFetch, type Fetch } from "../support/openapi.ts"
import { ada as adaLovelace } from "../support/people.ts"
import { withTideline } from "../support/with-tideline.ts"

let userId: string

const { app, sql, ada } = withTideline({ people: { ada: adaLovelace } })
const visitor: Fetch = (address, init) => checkedFetch(app.origin)(address, init)

beforeAll(async () => {
  await ada("/api/chat/threads")
  const [user] = await sql`select _id from users where email = ${adaLovelace.email}`
  userId = user?.["_id"]
})

describe("a link to a conversation", () => {
  it("gives anyone the page, with texts and names of files and nothing else", async () => {
    const threadId = await converse("Tides", ["When is high water?", "At **noon**."])
    const attachments = sql.json([
      { fileId: threadId, fileName: "chart.png", mimeType: "image/png", size: 11 },
    ])
    await sql`update chat_messages set attachments = ${attachments} where thread_id = ${threadId} and role = 'user'`
    const { url, share } = await shareIt(threadId, {})
    expect(share).toMatchObject({ threadId, shows: "live" })
    const html = await (await visitor(url)).text()
    for (const text of ["Ada Lovelace", "Tides", "When is high water?", "<strong", "chart.png"])
      expect(html).toContain(text)
    for (const secret of [threadId, userId, "ada@example.org", "a model"]) expect(html).not.toContain(secret)
  })

  it("shows the messages or a copy of them, and nothing else", async () => {
    const threadId = await converse("Refused", ["x"])
    const answer = await ada(`/api/chat/threads/${threadId}/shares`, post({ shows: "everything" }))
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ reason: "link-shows-unfit" })
  })
})

describe("a link to a copy", () => {
  it("shows the conversation as it was, whatever is edited, added or renamed later", async () => {
    const threadId = await converse("Tides", ["First", "To first.", "Second", "To second."])
    const copy = await shareIt(threadId, { shows: "copy" })
    const live = await shareIt(threadId, {})
    const before = await textsOf(copy.url)
    expect(before).toEqual(["Tides", "First", "To first.", "Second", "To second."])

    await replace(threadId, "Second", "Second, put better")
    const later = await shareIt(threadId, { shows: "copy" })
    await replace(threadId, "First", "All new")
    await sql`update chat_threads set title = 'Currents' where _id = ${threadId}`
    expect(await textsOf(copy.url)).toEqual(before)
    expect(await textsOf(later.url)).toEqual(["Tides", "First", "To first.", "Second, put better"])
    expect(await textsOf(live.url)).toEqual(["Currents", "All new"])
    expect((await visitor(`${copy.url}/events`)).status).toBe(404)
  })

  it("still shows a reply in whose place another was generated, for as long as it exists", async () => {
    const threadId = await converse("Tides", ["When?", "At noon.", "Sure?", "The first reply."])
    const copy = await shareIt(threadId, { shows: "copy" })
    const another = await shareIt(threadId, { shows: "copy" })
    const before = await textsOf(copy.url)
    await generateAgain(threadId)
    const later = await shareIt(threadId, { shows: "copy" })
    await generateAgain(threadId)
    expect(await textsOf(copy.url)).toEqual(before)
    expect((await textsOf(later.url)).slice(0, 4)).toEqual(before.slice(0, 4))
    expect((await textsOf(later.url))[4]).toMatch(/development gateway/i)

    await replace(threadId, "When?", "All new")
    expect(await textsOf(copy.url)).toEqual(before)
    await ada(`/api/chat/shares/${another.share._id}`, { method: "DELETE" })
    expect(await textsOf(copy.url)).toEqual(before)
    expect(await replacedTexts(threadId)).toContain("The first reply.")
    await ada(`/api/chat/shares/${copy.share._id}`, { method: "DELETE" })
    // Without the link it is still an earlier version.
    expect(await replacedTexts(threadId)).toEqual(expect.arrayContaining(["The first reply.", "At noon."]))
  })

  it("keeps a reply without text only while a link shows it, and not in a conversation that is moved", async () => {
    const unshown = await converse("Tides", ["When?", ""], "stopped")
    await shareIt(unshown, {})
    await generateAgain(unshown)
    expect(await replacedTexts(unshown)).toEqual([])

    const threadId = await converse("Tides", ["When?", ""], "stopped")
    await shareIt(threadId, { shows: "copy" })
    await generateAgain(threadId)
    expect(await replacedTexts(threadId)).toEqual([""])
    const made = await ada("/api/spaces", post({ name: "Engines" }))
    const { space } = (await made.json()) as { space: { _id: string } }
    const moved = await ada(`/api/chat/threads/${threadId}/move`, post({ spaceId: space._id }))
    expect(moved.status).toBe(200)
    expect(await replacedTexts(threadId)).toEqual([])
  })

  it("leaves out the reply that is being generated", async () => {
    const threadId = await converse("Running", ["Question", ""], "running")
    const { url } = await shareIt(threadId, { shows: "copy" })
    expect(await textsOf(url)).toEqual(["Running", "Question"])
  })

  it("is read in pages", async () => {
    const threadId = await converse(
      "Long",
      Array.from({ length: 250 }, (_, n) => `text ${n}.`),
    )
    for (const shows of ["copy", "live"]) {
      const { url } = await shareIt(threadId, { shows })
      const pages: string[][] = []
      let next: string | undefined = ""
      while (next !== undefined) {
        const html: string = await (await visitor(url + next)).text()
        pages.unshift(textsIn(html).slice(1))
        next = /href="[^"]*(\?before=[0-9a-f-]{36})"/.exec(html)?.[1]
      }
      expect(pages.map(({ length }) => length)).toEqual([50, 100, 100])
      expect(pages.flat()).toEqual(Array.from({ length: 250 }, (_, n) => `text ${n}.`))
    }
  })
})

describe("the events of a live link", () => {
  it("report a new message, a growing reply and the end of the link, and carry no text", async () => {
    const threadId = await converse("Followed", ["Question", ""], "running")
    const { url, share } = await shareIt(threadId, {})
    const events = await follow(url)
    // The first reading of each list.
    await events.next("changed")
    await sql`
      insert into chat_chunks (user_id, thread_id, turn_id, seq, delta)
      select user_id, thread_id, _id, 0, ${sql.json([{ type: "text", id: "0", text: "At noon" }])}
      from chat_turns where thread_id = ${threadId}`
    await events.next("changed")
    expect(await textsOf(url)).toEqual(["Followed", "Question", "At noon"])
    await sql`insert into chat_messages (user_id, thread_id, role, content) values (${userId}, ${threadId}, 'user', 'Next')`
    await events.next("changed")
    await ada(`/api/chat/shares/${share._id}`, { method: "DELETE" })
    await events.next("gone")
    expect(await events.end()).not.toMatch(/noon|Next|Question/)
  })

  it("end when the conversation is moved to the trash", async () => {
    const threadId = await converse("Removed", ["Question"])
    const { url } = await shareIt(threadId, {})
    const events = await follow(url)
    await events.next("changed")
    await ada(`/api/chat/threads/${threadId}`, { method: "DELETE" })
    await events.next("gone")
    await events.end()
  })

  it("are refused to the forty-first stream of one network, and come back when one ends", async () => {
    const { url } = await shareIt(await converse("Crowded", ["x"]), {})
    const crowd = await Promise.all(Array.from({ length: 40 }, () => follow(url)))
    expect((await visitor(`${url}/events`)).status).toBe(503)
    crowd[0]?.leave()
    await expect.poll(async () => (await open(url)).status).toBe(200)
    for (const each of crowd) each.leave()
  })
})

async function converse(title: string, texts: string[], last = "completed"): Promise<string> {
  const [thread] = await sql`
    insert into chat_threads (user_id, title, last_message_at) values (${userId}, ${title}, ${Date.now()}) returning _id`
  const threadId = thread?.["_id"]
  const rows = texts.map((content, at) => ({
    user_id: userId,
    thread_id: threadId,
    role: at % 2 === 0 ? "user" : "assistant",
    content,
  }))
  await sql`insert into chat_messages ${sql(rows)}`
  // Each reply has the message before it as its question.
  await sql`
    insert into chat_turns (_id, user_id, thread_id, question_id, request_id, status, model)
    select _id, user_id, thread_id, question, _id::text,
      case when after is null then ${last} else 'completed' end, 'a model'
    from (
      select *, lag(_id) over (order by _id) as question, lead(_id) over (order by _id) as after
      from chat_messages where thread_id = ${threadId}
    ) as said where role = 'assistant'`
  return threadId
}

async function generateAgain(threadId: string) {
  const [turn] = await sql`
    select chat_turns.request_id, content from chat_turns join chat_messages as question on question._id = question_id
    where chat_turns.thread_id = ${threadId} order by chat_turns._id desc limit 1`
  const parts = [{ type: "text", text: turn?.["content"] }]
  const message = { id: turn?.["request_id"], role: "user", parts }
  const answer = await ada(
    "/api/chat",
    post({ threadId, trigger: "regenerate-message", messages: [message] }),
  )
  expect(answer.status).toBe(200)
  await answer.text()
}

async function replacedTexts(threadId: string): Promise<string[]> {
  const rows =
    await sql`select content from chat_replaced_messages where thread_id = ${threadId} order by _id`
  return rows.map((row) => row["content"])
}

/** As an edit does, without asking a model. */
async function replace(threadId: string, text: string, better: string) {
  const [question] =
    await sql`select _id from chat_messages where thread_id = ${threadId} and content = ${text}`
  const { db, close } = openDatabase(app.databaseUrl)
  const next = await db.transaction((tx) => replaceFrom(tx, threadId, question?.["_id"]))
  await close()
  await sql`
    insert into chat_messages (_id, user_id, thread_id, role, content, edited)
    values (${next}, ${userId}, ${threadId}, 'user', ${better}, true)`
}

async function shareIt(threadId: string, limits: object): Promise<NewLink<ThreadShareSummary>> {
  const answer = await ada(`/api/chat/threads/${threadId}/shares`, post(limits))
  expect(answer.status).toBe(201)
  return (await answer.json()) as NewLink<ThreadShareSummary>
}

async function textsOf(url: string): Promise<string[]> {
  return textsIn(await (await visitor(url)).text())
}

/** The title and the texts of the messages that a page shows. */
function textsIn(html: string): string[] {
  const title = /<h1[^>]*>([^<]*)</.exec(html)?.[1] ?? ""
  const articles = [...html.matchAll(/<article.*?<\/article>/gs)].map(([article]) =>
    article.replaceAll(/<[^>]*>/g, "").trim(),
  )
  return [title, ...articles]
}

function open(url: string, signal?: AbortSignal) {
  return fetch(`${url}/events`, { headers: { accept: "text/event-stream" }, ...(signal && { signal }) })
}

/** Reads a stream of events. `next` resolves with the first event of that name that was not read yet. */
async function follow(url: string) {
  const leaving = new AbortController()
  const response = await open(url, leaving.signal)
  expect(response.status).toBe(200)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let all = ""
  let read = 0
  return {
    async next(name: string) {
      const line = `event: ${name}\n`
      for (;;) {
        const at = all.indexOf(line, read)
        if (at >= 0) {
          read = at + line.length
          return
        }
        const { done, value } = await reader.read()
        if (done) throw new Error(`The stream ended before ${name}: ${all}`)
        all += value
      }
    },
    /** All that the stream carried, once the server has ended it. */
    async end() {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return all
        all += value
      }
    },
    leave: () => leaving.abort(),
  }
}
