import { once } from "node:events"
import { beforeAll, describe, expect, it } from "vitest"
import { WebSocket } from "ws"
import { liveMutations, liveQueries } from "#server/live-functions.ts"
import { realtimeToken } from "../support/live.ts"
import { recordPasses } from "../support/longest-pass.ts"
import { withTideline } from "../support/with-tideline.ts"

const { settings, expectShort } = recordPasses()

let userId: string
/** Conversations whose pages of messages are as large as can be. */
let large: string[]
const { app, sql, ada } = withTideline({
  settings: settings,
  people: { ada: { name: "Ada", email: "ada@example.org" } },
})

beforeAll(async () => {
  await ada("/onboarding")
  const [user] = await sql`update users set onboarding_completed = true returning _id`
  userId = String(user?.["_id"])
  const threads = await sql`
    insert into chat_threads (user_id, title, last_message_at)
    select ${userId}, repeat('t', 200), number from generate_series(1, 30) number returning _id`
  large = threads.map((thread) => String(thread["_id"]))
  // Characters that JSON escapes.
  for (const threadId of large)
    await sql`
      insert into chat_messages (user_id, thread_id, role, content)
      select ${userId}, ${threadId}, 'user', repeat(${'"\\'}, 16000) from generate_series(1, 50)`
})

describe("others wait for a moment at most while somebody sends over a socket", () => {
  it.each(Object.entries(ARGUMENTS))("arguments %s", (name, args) =>
    expectShort(name, async () => {
      const answers = await send([
        ...liveQueries.map((query) => call("query", `{"query":"${query.name}","args":${args}}`)),
        ...liveQueries.map((query) =>
          call("subscribe", `{"subscriptions":[{"id":1,"query":"${query.name}","args":${args}}]}`),
        ),
        ...liveMutations.map(({ name: mutation }) =>
          call("mutate", `{"mutation":"${mutation}","mutationId":"${mutation}","args":${args}}`),
        ),
      ])
      expect(answers.filter((answer) => answer.includes('"internal"'))).toEqual([])
    }),
  )

  it.each(Object.entries(MESSAGES))("%s", (name, messages) => expectShort(name, () => send(messages())))
})

describe("others wait for a moment at most while somebody follows", () => {
  it("one conversation of long messages", () =>
    expectShort("one long conversation", () => send([follow("chat.listMessages", [{ threadId: large[0] }])])))

  it("thirty conversations of long messages at once", () =>
    expectShort("thirty long conversations", () =>
      send([
        follow(
          "chat.listMessages",
          large.map((threadId) => ({ threadId })),
        ),
      ]),
    ))

  it("the same conversation a hundred times", () =>
    expectShort("one long conversation, a hundred times", async () => {
      const answers = await send([
        follow(
          "chat.listMessages",
          hundred.map(() => ({ threadId: large[0] })),
        ),
      ])
      // It would take 300 MB until it has been received.
      expect(answers.join()).toContain("The connection is too slow for more.")
    }))

  it("a hundred lists of conversations", async () => {
    await expectShort("a hundred lists of conversations", () =>
      send([
        follow(
          "chat.listThreads",
          hundred.map(() => ({})),
        ),
      ]),
    )
  })
})

/** Nested, long and wide as far as one message of 64 kB allows. */
const ARGUMENTS = {
  "nested in lists": "[".repeat(32_000) + "]".repeat(32_000),
  "nested in objects": `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`,
  "with many properties": JSON.stringify(
    Object.fromEntries(Array.from({ length: 6000 }, (_, at) => [`k${at}`, 1])),
  ),
  "with long texts": JSON.stringify(
    Object.fromEntries(
      ["threadId", "spaceId", "fileId", "title", "name", "after", "q", "email"].map((name) => [
        name,
        "a@".repeat(3900),
      ]),
    ),
  ),
  "with many ids": JSON.stringify({ ids: Array(20_000).fill("") }),
}

const MESSAGES: Record<string, () => string[]> = {
  "a hundred subscriptions with tokens": () => [
    call(
      "subscribe",
      JSON.stringify({
        subscriptions: Array.from({ length: 100 }, (_, id) => ({
          id,
          query: "chat.listThreads",
          args: { after: "9~".repeat(100) },
          have: { token: "a.".repeat(200), lsn: "0000000000000001" },
        })),
      }),
    ),
  ],
  "ids to unsubscribe": () => [event("unsubscribe", JSON.stringify({ ids: Array(1000).fill(1) }))],
  "a thousand small messages at once": () => Array(1000).fill(event("acknowledge", '{"sequence":1}')),
  "a thousand small calls at once": () =>
    Array.from({ length: 1000 }, () => call("query", '{"query":"chat.listThreads","args":{}}')),
  "messages that are none": () => Array(1000).fill(event("nothing", "{}")),
  "a token that is none": () => Array(4).fill(call("authenticate", `{"token":"${"a.".repeat(8000)}"}`)),
  "an event with many arguments": () => [`42["query"${",1".repeat(30_000)}]`],
  "an event of another namespace": () => [`42/${"a".repeat(60_000)},["query"]`],
  "an event with binary parts": () => [`4560000-["query",{"_placeholder":true,"num":0}]`],
}

const hundred = Array.from({ length: 100 }, (_, at) => at)

let lastCall = 1000
function call(name: string, content: string) {
  return `42${++lastCall}["${name}",${content}]`
}
function follow(query: string, args: object[]) {
  const subscriptions = args.map((each, id) => ({ id, query, args: each }))
  return call("subscribe", JSON.stringify({ subscriptions }))
}
function event(name: string, content: string) {
  return `42["${name}",${content}]`
}

/** Sends all of them at once. Resolves with the answers once the server has answered what came after. */
async function send(messages: string[]): Promise<string[]> {
  const token = await realtimeToken(ada)
  const socket = new WebSocket(`${app.origin.replace("http", "ws")}/realtime/?EIO=4&transport=websocket`)
  const closed = once(socket, "close")
  await once(socket, "open")
  const connected = hear(socket, "40")
  socket.send(`40${JSON.stringify({ version: 1, token })}`)
  await connected
  const numbers = messages.flatMap((message) => /^42(\d+)/.exec(message)?.[1] ?? [])
  const answered = Promise.all(numbers.map((number) => hear(socket, `43${number}[`)))
  for (const message of messages) socket.send(message)
  const last = hear(socket, "43999[")
  socket.send('42999["query",{"query":"users.getOnboardingStatus","args":{}}]')
  const answers = await Promise.race([closed.then(() => []), last.then(() => answered)])
  socket.close()
  await closed
  return answers
}

function hear(socket: WebSocket, beginning: string): Promise<string> {
  return new Promise((resolve) => {
    socket.on("message", function look(data: Buffer) {
      const text = data.toString()
      if (!text.startsWith(beginning)) return
      socket.off("message", look)
      resolve(text)
    })
  })
}
