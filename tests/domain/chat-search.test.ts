import { eq } from "drizzle-orm"
import * as fc from "fast-check"
import * as v from "valibot"
import { describe, expect, it } from "vitest"
import { chatMessages } from "#db/schema/chat.ts"
import { spaceMembers } from "#db/schema/spaces.ts"
import { SearchQuery } from "#server/chat/contract.ts"
import { searchThreads } from "#server/chat/search.ts"
import { findSnippets } from "#server/chat/snippet.ts"
import { createThread, changeThread } from "#server/chat/threads.ts"
import { chatTools } from "#server/chat/tools.ts"
import { restoreThread, trashThread } from "#server/chat/trash.ts"
import { answerOnce } from "#server/chat/turn.ts"
import { aSpace } from "../support/domain-spaces.ts"
import { type ChatScope, shareChatServices, readAll } from "../support/chat-services.ts"

/** What the SDK passes to a tool. */
const CALL = { toolCallId: "call", messages: [], context: {} }

const { chat, ada, grace } = await shareChatServices()

describe("a search", () => {
  it("finds titles and messages, one result for each conversation, latest first", async () => {
    const someone = await chat.scopeOf("someone")
    const titled = await thread(someone, "Lighthouses of Portugal", ["Nothing of the kind."])
    const said = await thread(someone, "Coast", [
      "A lighthouse?",
      "The tall lighthouse of Cape Roca.",
      "Thanks.",
    ])
    await thread(someone, "Other", ["Nothing."])
    const { results } = await searchThreads(someone, { q: "lighthouse" })
    expect(results).toEqual([
      {
        thread: expect.objectContaining({ _id: said.threadId, title: "Coast" }),
        messageId: said.ids[1],
        snippet: { text: "The tall lighthouse of Cape Roca.", matches: [[9, 19]] },
      },
      {
        thread: expect.objectContaining({ _id: titled.threadId }),
        messageId: null,
        snippet: { text: "Lighthouses of Portugal", matches: [[0, 10]] },
      },
    ])
  })

  it.each([
    ["all words, in any order", "noon water", true],
    ["any case", "HIGH Water", true],
    ["the beginning of the last word", "high wat", true],
    ["the beginning of another word", "hig water", false],
    ["the end of a word", "ater", false],
    ["a missing word", "high moon", false],
    ["one character, as a whole word only", "h", false],
    ["words that are written together", "tide-tables.csv", true],
    ["a part of them", "tables", true],
    ["them in another order", "tables-tide.csv", false],
    ["them with words between", "water-tide", false],
    ["them with another sign between", "tide_tables csv", true],
    ["the beginning of the last of them", "tide-tab", true],
    ["them in quotation marks", '"tide-tables"', true],
    ["wildcards for a character literally, and finds none", "wa_er", false],
    ["wildcards for a text literally, and finds none", "wa%r", false],
    ["accents as they are written", "Élevé", true],
    ["other accents", "eleve", false],
    ["Chinese without spaces", "潮汐", true],
    ["Chinese in another order", "汐潮", false],
    ["Japanese in the middle", "カタ", true],
    ["Korean by its beginning", "바다", true],
    ["Greek in capitals", "ΘΆΛΑΣΣΑ", true],
    ["Hindi", "हिन्दी", true],
    ["a number", "3.14", true],
    ["a part of a URL", "example", true],
    ["punctuation only", "?!… --- ***", false],
    ["nothing", "", false],
    ["white space", " \t\n ", false],
    ["an emoji", "🌊", false],
    ["an emoji and a word", "🌊 water", true],
    ["NUL in a word", "wat\0er", true],
    ["half a character", "\ud800 water", true],
  ])("matches %s", async (_, q, isFound) => {
    await once(() =>
      thread(ada, "Everything", [
        "High water at noon: see tide-tables.csv 🌊, élevé. 今天的潮汐表。カタカナ 바다에서 θάλασσα हिन्दी 3.14 https://example.org/a_b",
      ]),
    )
    const { results } = await searchThreads(ada, { q })
    expect(results.length > 0).toBe(isFound)
    for (const { snippet } of results) expect(snippet.matches.length).toBeGreaterThan(0)
  })

  it.each([
    "'",
    "''",
    "' or 1=1 --",
    "water' & 'x",
    "a:*",
    "water:*",
    "!water",
    "water & | !",
    "(((",
    "water <-> noon",
    "\\",
    "\\'water",
    '"water',
    "$1",
    "%",
    "owner",
    "no:word",
    `owner:${crypto.randomUUID()}`,
    "'owner':*",
    "water ".repeat(33),
    "x".repeat(200),
    "\u0000",
    "\u202e\u200b",
    "a\u0301",
    "𠀀𠀁",
    "<b>water</b>",
  ])("treats %j as plain words", async (q) => {
    const { results } = await searchThreads(grace, { q })
    expect(results).toEqual([])
    expect(Array.isArray((await searchThreads(ada, { q })).results)).toBe(true)
  })

  it("accepts any text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 100 }), async (q) => {
        expect(await searchThreads(ada, { q })).toEqual({ results: expect.any(Array) })
      }),
      { numRuns: 200 },
    )
  })

  it("accepts two hundred characters", () => {
    expect(v.safeParse(SearchQuery, { q: "x".repeat(200) }).success).toBe(true)
    expect(v.safeParse(SearchQuery, { q: "x".repeat(201) }).success).toBe(false)
    expect(v.safeParse(SearchQuery, {})).toMatchObject({ output: { q: "" } })
  })

  it("finds nothing that belongs to someone else", async () => {
    await thread(ada, "A secret of Ada", ["The treasure lies under the pier."])
    expect((await searchThreads(grace, { q: "treasure" })).results).toEqual([])
    expect((await searchThreads(grace, { q: "secret" })).results).toEqual([])
    expect((await searchThreads(grace, { q: ada.viewer.user._id })).results).toEqual([])
    expect((await searchThreads(ada, { q: "treasure" })).results).toHaveLength(1)
  })

  it("looks in a space for its members, and everywhere in what somebody may see", async () => {
    const [bob, cleo] = [await chat.scopeOf("bob"), await chat.scopeOf("cleo")]
    const spaceId = await aSpace(chat.db, [cleo, "owner"], [bob, "reader"])
    const { _id: shared } = await createThread(cleo, { title: "A mooring for all", spaceId })
    await thread(cleo, "Cleo's own mooring", [])
    const own = await thread(bob, "Bob's own mooring", [])
    const found = async (where: Omit<SearchQuery, "q">) =>
      (await searchThreads(bob, { q: "mooring", ...where })).results.map(({ thread: { _id } }) => _id)

    expect(await found({})).toEqual([own.threadId])
    expect(await found({ spaceId })).toEqual([shared])
    expect(await found({ everywhere: "true" })).toEqual([own.threadId, shared])
    expect(await callSearch(bob, "mooring")).toMatchObject({
      conversations: [{ title: "Bob's own mooring" }, { title: "A mooring for all" }],
    })
    // Everybody in the space reads what the model finds there.
    const inSpace = chatTools(bob, spaceId)["searchThreads"]
    expect(await inSpace?.execute?.({ query: "mooring" }, CALL)).toMatchObject({
      conversations: [{ title: "A mooring for all" }],
    })

    await chat.db.delete(spaceMembers).where(eq(spaceMembers.userId, bob.viewer.user._id))
    expect(await found({ everywhere: "true" })).toEqual([own.threadId])
    await expect(found({ spaceId })).rejects.toMatchObject({ status: 404 })
    expect(await inSpace?.execute?.({ query: "mooring" }, CALL)).toEqual({
      problem: expect.any(String),
    })
  })

  it("skips the trash, and finds a conversation again once it is restored", async () => {
    const { threadId } = await thread(ada, "Anchors", ["How heavy is an anchorage?"])
    await trashThread(ada, threadId)
    expect((await searchThreads(ada, { q: "anchor" })).results).toEqual([])
    await restoreThread(ada, threadId)
    expect((await searchThreads(ada, { q: "anchor" })).results).toHaveLength(1)
  })

  it("follows a new title", async () => {
    const { threadId } = await thread(ada, "Barnacles", [])
    await changeThread(ada, threadId, { title: "Mussels" })
    expect((await searchThreads(ada, { q: "barnacles" })).results).toEqual([])
    expect((await searchThreads(ada, { q: "mussels" })).results).toHaveLength(1)
  })

  it("returns fifty conversations at most", async () => {
    const someone = await chat.scopeOf("someone")
    for (let i = 0; i < 52; i++) await createThread(someone, { title: `Buoy ${i}` })
    const { results } = await searchThreads(someone, { q: "buoy" })
    expect(results).toHaveLength(50)
    expect(results[0]?.thread.title).toBe("Buoy 51")
  })

  it("never prevents a message from being stored, however odd or long its words are", async () => {
    const odd = [
      "x".repeat(1_000_000),
      "\u{20000}\u{20001}".repeat(200_000),
      Array.from({ length: 120_000 }, (_, i) => String.fromCodePoint(0x20000 + (i % 40_000))).join(" "),
      "'\\:*&|!<->()\"".repeat(10_000),
    ]
    await thread(ada, "Odd", odd)
  })

  it("is a tool of the model, for the user's own conversations", async () => {
    const someone = await chat.scopeOf("someone")
    await thread(someone, "Knots", ["A bowline holds under load."])
    expect(await callSearch(someone, "bowline")).toMatchObject({
      conversations: [{ title: "Knots", found: "A bowline holds under load." }],
      more: false,
    })
    expect(await callSearch(grace, "bowline")).toEqual({ conversations: [], more: false })
  })
})

describe("a search snippet", () => {
  it("is the text around the match, on one line, in whole words", () => {
    const text = `${"before ".repeat(100)}\n\n# The   treasure\n\n${"after ".repeat(100)}`
    const { text: shown, matches } = snippetOf(text, ["treasure"])
    expect(shown).toMatch(/^…before (before )*# The treasure after (after )*after…$/)
    expect(shown.length).toBeLessThan(190)
    expect(matches.map(([from, to]) => shown.slice(from, to))).toEqual(["treasure"])
  })

  it("highlights every matching word, and no part of another word", () => {
    const { text, matches } = snippetOf("Tide, tides, the TIDE and betide a tide-table", ["tide", "ta"])
    expect(matches.map(([from, to]) => text.slice(from, to))).toEqual(["Tide", "TIDE", "tide", "ta"])
  })

  it("never splits a character, and counts offsets as JavaScript does", () => {
    for (let i = 0; i < 4; i++) {
      const { text, matches } = snippetOf(`${"x".repeat(i)}${"🌊".repeat(300)} sea ${"🌊".repeat(300)}`, [
        "sea",
      ])
      expect(text.isWellFormed()).toBe(true)
      expect(matches.map(([from, to]) => text.slice(from, to))).toEqual(["sea"])
    }
  })

  it("is the beginning of the text if the match is not found again", () => {
    expect(snippetOf("The beginning.", ["elsewhere"])).toEqual({ text: "The beginning.", matches: [] })
  })

  it("is fast on a text crafted to be slow", () => {
    const { matches } = snippetOf("a.".repeat(500_000), [`${"a.".repeat(90)}b`])
    expect(matches).toEqual([])
  })
})

async function callSearch(scope: ChatScope, query: string) {
  const order = [{ role: "user" as const, content: `/tool searchThreads ${JSON.stringify({ query })}` }]
  const chunks = await readAll(answerOnce(scope, order).chunks)
  return chunks.find((chunk) => chunk.type === "tool-output-available")?.output
}

let isMade = false
async function once(make: () => Promise<unknown>) {
  if (isMade) return
  isMade = true
  await make()
}

async function thread(scope: ChatScope, title: string, contents: string[]) {
  const { _id: threadId } = await createThread(scope, { title })
  const ids: string[] = []
  for (const content of contents) {
    const [message] = await chat.db
      .insert(chatMessages)
      .values({ userId: scope.viewer.user._id, threadId, role: "user", content })
      .returning()
    if (message) ids.push(message._id)
  }
  return { threadId, ids }
}

function snippetOf(text: string, terms: string[]) {
  return findSnippets(terms)(text)
}
