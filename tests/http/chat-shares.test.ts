import { beforeAll, describe, expect, it } from "vitest"
import { openDatabase } from "#db/client.ts"
import type { ThreadShareSummary } from "#server/chat/contract.ts"
import { replaceFrom } from "#server/chat/replaced.ts"
import type { NewLink } from "#server/links/contract.ts"
import { callers, post, type Api } from "../support/api.ts"
import { startTideline } from "../support/app.ts"
import { ada as adaLovelace, grace as graceHopper, signUp, type Person } from "../support/people.ts"
import postgres from "postgres"

const GONE = {
  error: "This link doesn't work. Ask the person who sent it for a new one.",
  reason: "link-dead",
}

let api: Api
let ada: Person
let grace: Person
let sql: postgres.Sql
let userId: string

beforeAll(async () => {
  api = callers(await startTideline({ TRUSTED_PROXIES: "1" }))
  sql = postgres(api.app.databaseUrl, { max: 1 })
  ada = await signUp(api.app, adaLovelace)
  grace = await signUp(api.app, graceHopper)
  await ada("/api/chat/threads")
  const [user] = await sql`select _id from users where email = ${adaLovelace.email}`
  userId = user?.["_id"]
  return async () => {
    await sql.end()
    await api.app.stop()
  }
})

describe("a link to a conversation", () => {
  it("gives anyone the page, with texts and names of files and nothing else", async () => {
    const threadId = await converse("Tides", ["When is high water?", "At **noon**."])
    const attachments = sql.json([
      { fileId: threadId, fileName: "chart.png", mimeType: "image/png", size: 11 },
    ])
    await sql`update chat_messages set attachments = ${attachments} where thread_id = ${threadId} and role = 'user'`
    const { url, share } = await shareIt(threadId, {})
    expect(url).toMatch(new RegExp(`^${api.app.origin}/share/chat/[\\w-]{27}$`))
    expect(url.endsWith(share.hint)).toBe(true)
    expect(share).toMatchObject({ threadId, hasPassword: false, expiresAt: null, shows: "live" })

    const page = await api.visitor(url)
    expect(page.status).toBe(200)
    expect(Object.fromEntries(page.headers)).toMatchObject({
      "cache-control": "private, no-store",
      "referrer-policy": "same-origin",
      "x-robots-tag": "noindex, nofollow",
    })
    const html = await page.text()
    for (const text of ["Ada Lovelace", "Tides", "When is high water?", "<strong", "chart.png", "noindex"])
      expect(html).toContain(text)
    for (const secret of [threadId, userId, "ada@example.org", "a model"]) expect(html).not.toContain(secret)
  })

  it("is stored as a hash, and appears in no log", async () => {
    const { url } = await shareIt(await converse("Secrets", ["x"]), { password: "open sesame" })
    await (await api.visitor(url)).text()
    const token = url.split("/").at(-1) ?? ""
    const [row] = await sql`select s::text as all from chat_shares s order by _id desc limit 1`
    expect(row?.["all"]).not.toContain(token)
    expect(row?.["all"]).not.toContain("sesame")
    await expect.poll(() => api.app.log.some((line) => line.includes("/share/chat/…"))).toBe(true)
    expect(api.app.log.join("\n")).not.toContain(token)
  })

  it("shows nothing before its password is entered, and says only who shares", async () => {
    const { url } = await shareIt(await converse("Locked", ["Hidden text"]), { password: "open sesame" })
    const locked = await (await api.visitor(url)).text()
    expect(locked).toContain("Ada Lovelace shared a conversation with you")
    expect(locked).not.toMatch(/Hidden text|Locked/)
    expect((await api.visitor(`${url}/events`)).status).toBe(401)
    expect((await unlock(url, "guess")).status).toBe(403)
    const right = await unlock(url, "open sesame")
    expect(right.status).toBe(303)
    const [cookie = ""] = (right.headers.get("set-cookie") ?? "").split(";")
    expect(await (await api.visitor(url, { headers: { cookie } })).text()).toContain("Hidden text")
    const { url: another } = await shareIt(await converse("Other", ["Other text"]), {
      password: "open sesame",
    })
    expect(await (await api.visitor(another, { headers: { cookie } })).text()).not.toContain("Other text")
  })

  it("works neither after it was revoked or has expired, nor while its conversation is in the trash", async () => {
    const threadId = await converse("Short-lived", ["x"])
    const revoked = await shareIt(threadId, {})
    const path = `/api/chat/shares/${revoked.share._id}`
    expect((await grace(path, { method: "DELETE" })).status).toBe(404)
    expect((await ada(path, { method: "DELETE" })).status).toBe(204)
    expect((await ada(path, { method: "DELETE" })).status).toBe(404)
    await expectGone(revoked.url)

    const expired = await shareIt(threadId, { expiresAt: Date.now() + 60_000 })
    expect(await (await api.visitor(expired.url)).text()).toContain("The link works until")
    await sql`update chat_shares set expires_at = ${Date.now() - 1} where _id = ${expired.share._id}`
    await expectGone(expired.url)

    const { url } = await shareIt(threadId, {})
    await ada(`/api/chat/threads/${threadId}`, { method: "DELETE" })
    await expectGone(url)
    await ada(`/api/chat/threads/${threadId}/restore`, { method: "POST" })
    expect((await api.visitor(url)).status).toBe(200)
  })

  it("is listed for its creator, and created or listed by nobody else", async () => {
    const threadId = await converse("Mine", ["x"])
    const { share } = await shareIt(threadId, { shows: "copy" })
    const address = `/api/chat/threads/${threadId}/shares`
    const { shares } = (await (await ada(address)).json()) as { shares: ThreadShareSummary[] }
    expect(shares).toEqual([share])
    expect((await grace(address)).status).toBe(404)
    expect((await grace(address, post({}))).status).toBe(404)
    expect((await api.visitor(address, post({}))).status).toBe(401)
  })

  it.each([
    [{ expiresAt: Date.now() - 1000 }, "link-end-past"],
    [{ expiresAt: "tomorrow" }, "link-end-unfit"],
    [{ password: "" }, "link-password-unfit"],
    [{ shows: "everything" }, "link-shows-unfit"],
  ])("is refused with the limits %j", async (limits, reason) => {
    const threadId = await converse("Refused", ["x"])
    const answer = await ada(`/api/chat/threads/${threadId}/shares`, post(limits))
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ reason })
  })

  it("is refused if the conversation has a hundred already", async () => {
    const threadId = await converse("Full", ["x"])
    await sql`
      insert into chat_shares (user_id, thread_id, token_hash, hint)
      select ${userId}, ${threadId}, encode(sha256(('x' || n)::bytea), 'hex'), 'hint' from generate_series(1, 100) n`
    const answer = await ada(`/api/chat/threads/${threadId}/shares`, post({}))
    expect(answer.status).toBe(409)
    expect(await answer.json()).toMatchObject({ reason: "too-many-conversation-links" })
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
    expect((await api.visitor(`${copy.url}/events`)).status).toBe(404)
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
        const html: string = await (await api.visitor(url + next)).text()
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
    expect((await api.visitor(`${url}/events`)).status).toBe(503)
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
  const { db, close } = openDatabase(api.app.databaseUrl)
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

function unlock(url: string, password: string) {
  return api.visitor(url, { method: "POST", body: new URLSearchParams({ password }), redirect: "manual" })
}

async function expectGone(url: string) {
  const page = await api.visitor(url)
  expect(page.status).toBe(404)
  expect(await page.text()).toContain("This link doesn&#x27;t work")
  const events = await api.visitor(`${url}/events`)
  expect(events.status).toBe(404)
  expect(await events.json()).toEqual(GONE)
}

async function textsOf(url: string): Promise<string[]> {
  return textsIn(await (await api.visitor(url)).text())
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
