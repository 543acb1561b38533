import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { recordPasses } from "../support/longest-pass.ts"
import { openBrowser, postJson, signUp, type Person } from "../support/people.ts"

const { settings, expectShort: expectShortActs } = recordPasses()

let app: TidelineApp
let sql: postgres.Sql
let ada: Person
let userId: string
beforeAll(async () => {
  app = await startTideline({ ...settings, CHAT_RATE_LIMIT: "1000" })
  ada = await signUp(app, { name: "Ada", email: "ada@example.org" })
  await ada("/onboarding")
  sql = postgres(app.databaseUrl, { max: 1, onnotice() {} })
  const [user] = await sql`update users set onboarding_completed = true returning _id`
  userId = String(user?.["_id"])
})
afterAll(async () => {
  await sql.end()
  await app.stop()
})

function expectShort(name: string, act: () => Promise<Response>) {
  return expectShortActs(name, async () => {
    const response = await act()
    expect(response.status, await response.text()).toBeLessThan(500)
  })
}

describe("others wait for a moment at most while somebody", () => {
  let fileIds: string[]
  const files = (count: number) => fileIds.slice(0, count)

  beforeAll(async () => {
    const stored = await ada("/api/files?name=one.txt", { method: "POST", body: "x" })
    expect(stored.status).toBe(201)
    // Names of the greatest length that differ only in case, so that all but one get a number.
    const rows = await sql`
      insert into files (storage_id, user_id, file_name, mime_type, size)
      select storage_id, user_id, name, mime_type, size from files, unnest(${namesAlike(1000)}::text[]) name
      returning _id`
    fileIds = rows.map((row) => String(row["_id"]))
  })

  const acts: [string, () => Promise<Response>][] = [
    [
      "downloads a thousand files as one zip",
      () => postJson(ada, "/api/files/archive", { ids: files(1000) }),
    ],
    ["downloads all files as one zip", () => postJson(ada, "/api/files/archive", { all: true })],
    [
      "copies hundreds of files whose names are taken",
      () => postJson(ada, "/api/files/copy", { ids: files(300) }),
    ],
    ["lists files by name", () => ada("/api/files?sort=name&limit=100")],
    ["opens the list of files", () => ada("/dashboard/files?q=ab&sort=name")],
    ["uploads 4 MB of brackets as JSON", () => upload("a.json", "[".repeat(4_000_000))],
    ["uploads 4 MB of line breaks as text", () => upload("a.txt", "\n".repeat(4_000_000))],
    ["uploads 4 MB of tags as a page", () => upload("a.html", "<a ".repeat(1_300_000))],
    ["gives a file a name of joined characters", () => upload("👩‍👩‍👧".repeat(60), "x")],
    [
      "sends a thousand values with an upload",
      () => ada("/api/files/uploads", { method: "POST", headers: TUS }),
    ],
  ]
  it.each(acts)("%s", expectShort)
})

describe("others wait for a moment at most while somebody with long conversations", () => {
  let long: string

  beforeAll(async () => {
    for (let number = 0; number < 60; number++)
      await addConversation(`of ${number}`, [number % 2 ? "漢".repeat(32_000) : "a ".repeat(16_000)])
    const footnotes = Array.from({ length: 2000 }, (_, index) => `[^${index}]: x`).join("\n")
    long = await addConversation(
      "long",
      Array.from({ length: 90 }, (_, index) => (index % 3 ? footnotes : LINES)),
    )
  })

  const acts: [string, () => Promise<Response>][] = [
    ["searches for what is everywhere", () => ada("/api/chat/search?q=a%20a%20a%20a%20a%20a%20a%20a")],
    [
      "searches for characters without spaces",
      () => ada(`/api/chat/search?q=${encodeURIComponent("漢".repeat(60))}`),
    ],
    ["searches for words with punctuation", () => ada("/api/chat/search?q=a.a.a.a.a.a.a.a")],
    ["exports a conversation as Markdown", () => ada(`/api/chat/threads/${long}/export`)],
    ["exports a conversation as JSON", () => ada(`/api/chat/threads/${long}/export?format=json`)],
    ["reads a hundred messages", () => ada(`/api/chat/threads/${long}/messages?limit=100`)],
    ["copies a conversation", () => postJson(ada, `/api/chat/threads/${long}/copy`, {})],
    ["exports their account", () => ada("/dashboard/account/export")],
  ]
  it.each(acts)("%s", expectShort)
})

describe("others wait for a moment at most for JSON", () => {
  const paths = [
    "/api/chat",
    "/api/email",
    "/api/files/archive",
    "/api/files/move",
    "/api/chat/threads",
    "/api/spaces",
  ]
  const auth = ["sign-up/email", "sign-in/email", "api-key/create"].map((path) => `/api/auth/${path}`)

  describe.each([...paths, ...auth])("sent to %s", (path) => {
    it.each(Object.entries(BODIES))("%s", (name, body) =>
      expectShort(`${path} ${name}`, () => {
        const headers = { "content-type": "application/json", "x-forwarded-for": crypto.randomUUID() }
        return ada(path, { method: "POST", headers, body })
      }),
    )
  })
})

describe("others wait for a moment at most for megabytes", () => {
  it.each(Object.entries(HISTORIES))("of %s, sent to a conversation", (name, history) => {
    const body = `{"threadId":"${crypto.randomUUID()}","messages":[${history},{"id":"q","role":"user","parts":[{"type":"text","text":"a"}]}]}`
    return expectShort(name, () =>
      ada("/api/chat", { method: "POST", headers: { "content-type": "application/json" }, body }),
    )
  })
})

describe("others wait for a moment at most for a request", () => {
  it.each(Object.entries(HEADERS))("with a long header %s", async (name, value) => {
    for (const path of ["/", "/dashboard", "/api/health"])
      await expectShort(`${path} ${name}`, () =>
        ada(path, { headers: { [name]: name === "cookie" ? value + ada.cookie() : value } }),
      )
  })

  it.each(Object.entries(QUERIES))("with a long query of %s", async (name, text) => {
    for (const path of ["/docs/search", "/dashboard/files", "/api/chat/search", "/sign-in", "/api/files"])
      await expectShort(`${path} ${name}`, () => ada(`${path}?q=${text}`))
  })

  it.each(Object.entries(FORMS))("with a form of %s", async (name, body) => {
    for (const path of ["/sign-in", "/sign-up", "/waitlist", "/dashboard/account", "/dashboard/spaces"])
      await expectShort(`${path} ${name}`, () =>
        ada(path, { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded" }, body }),
      )
  })

  it.each(PASSWORDS)("with the new password %s", (password) =>
    expectShort(password, () =>
      postJson(openBrowser(app), "/api/auth/sign-up/email", {
        name: "Somebody",
        email: `${crypto.randomUUID()}@example.org`,
        password,
      }),
    ),
  )
})

function upload(name: string, body: string): Promise<Response> {
  return ada(`/api/files?name=${encodeURIComponent(name)}`, { method: "POST", body })
}

async function addConversation(title: string, messages: string[]): Promise<string> {
  const [thread] = await sql`
    insert into chat_threads (user_id, title, last_message_at) values (${userId}, ${title}, ${Date.now()})
    returning _id`
  const threadId = String(thread?.["_id"])
  for (const content of messages)
    await sql`
      insert into chat_messages (user_id, thread_id, role, content)
      values (${userId}, ${threadId}, 'user', ${content})`
  return threadId
}

function namesAlike(count: number): string[] {
  const characters = Array.from("ab".repeat(125))
  return Array.from({ length: count }, (_, number) => {
    const cased = characters.map((character, at) =>
      (number >> at) & 1 && at < 10 ? character.toUpperCase() : character,
    )
    return `${cased.join("")}.txt`
  })
}

/** A message of the greatest length, in the shortest lines. */
const LINES = "- \n".repeat(10_600)

const TUS = {
  "tus-resumable": "1.0.0",
  "upload-length": "1",
  "upload-metadata": Array.from({ length: 1000 }, (_, index) => `k${index} YQ==`).join(","),
}

/** Each close to 256 KiB. */
const BODIES = {
  "nested in lists": "[".repeat(130_000) + "]".repeat(130_000),
  "nested in objects": `${'{"a":'.repeat(40_000)}1${"}".repeat(40_000)}`,
  "with many ids": JSON.stringify({ ids: Array(80_000).fill("") }),
  "with many properties": JSON.stringify(
    Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, 1])),
  ),
  "with many messages": `{"messages":[${"{},".repeat(80_000)}{}]}`,
  "with many parts": JSON.stringify({
    messages: Array.from({ length: 200 }, (_, id) => ({
      id: `${id}`,
      role: "user",
      parts: Array.from({ length: 30 }, () => ({ type: "text", text: "a" })),
    })),
  }),
  "with a long text": JSON.stringify({
    name: "<&'\"".repeat(50_000),
    template: "welcome",
    title: "a ".repeat(9000),
  }),
  "with a long address": JSON.stringify({
    email: "a@".repeat(60_000),
    name: "x",
    password: "y".repeat(100_000),
  }),
}

/** In a body that may have 32 MB. */
const HISTORIES = {
  text: `"${"a".repeat(30_000_000)}"`,
  "a data URL": `{"parts":[{"url":"data:image/png;base64,${"A".repeat(30_000_000)}"}]}`,
  "lists in lists": "[".repeat(15_000_000) + "]".repeat(15_000_000),
  messages: "{},".repeat(9_000_000) + "{}",
  numbers: `[${"1,".repeat(15_000_000)}1]`,
  digits: "1".repeat(30_000_000),
  properties: `{${'"a":1,'.repeat(5_000_000)}"a":1}`,
  escapes: `"${"\\ud800".repeat(5_000_000)}"`,
  "escapes in a URL": `{"parts":[{"url":"data:${"\\n".repeat(15_000_000)}"}]}`,
  "Chinese characters": `"${"漢".repeat(10_000_000)}"`,
}

const HEADERS = {
  "accept-language": "a-b-c,".repeat(2300),
  cookie: "a=b; ".repeat(2700),
  "if-none-match": '"a", '.repeat(2700),
  range: `bytes=${"0-1,".repeat(3000)}`,
  accept: "a/b;q=0.1,".repeat(1400),
  prefer: "respond-async, ".repeat(900),
  "x-forwarded-for": "1.2.3.4, ".repeat(1500),
  authorization: `Bearer ${"a.".repeat(7000)}`,
  "user-agent": "Mozilla/5.0 (".repeat(1000),
}

const QUERIES = {
  letters: "a".repeat(14_000),
  spaces: "%20".repeat(4600),
  parameters: "a=1&".repeat(3500),
  brackets: "[".repeat(14_000),
  "Chinese characters": "%E6%BC%A2".repeat(1500),
  "short words": "a%20b%20".repeat(1700),
}

const FORMS = {
  "many fields": "a=1&".repeat(16_000),
  "one long field": `email=${"a@".repeat(31_000)}`,
  spaces: `name=${"+".repeat(64_000)}`,
}

const PASSWORDS = [
  "a".repeat(40),
  "abcdefghijklmnopqrstuvwxyz0123456789abcd",
  ["password", "love", "princess", "monkey", "dragon", "football"].join(""),
  "p4$$w0rdl0v3pr1nc3$$qw3r7ym0nk3ydr4g0nf0",
  "abc".repeat(13),
  "1.1.20012.2.20023.3.20034.4.20045.5.2005",
  "4@8({[<369&#!|1/0$5+7%2Z4@8({[<369&#!|1/",
]
