import * as fc from "fast-check"
import * as v from "valibot"
import { afterAll, beforeAll, expect, it } from "vitest"
import { defineLiveQuery, type TableDescription } from "../../live/server/live-query.ts"
import { isStorable, type SubscribeAnswer } from "#live/contract"
import type { ReferenceClient } from "./support/client.ts"
import { startEngine, type Engine } from "./support/engine.ts"
import { engineSuite } from "./support/suite.ts"
import { addMessage, inThread, messages, newest, threads, type Viewer } from "./support/tables.ts"

const marks: TableDescription<{ _id: string; owner: string; rank: number }> = {
  schema: "public",
  name: "marks",
  identity: ["owner", "rank"],
  columns: {
    _id: { name: "_id", decode: String },
    owner: { name: "owner", decode: String },
    rank: { name: "rank", decode: Number },
  },
}
const pages = defineLiveQuery({
  name: "marks.pages",
  description: "For the tests of the engine.",
  args: v.strictObject({
    owner: v.optional(v.string()),
    rank: v.optional(v.number()),
    after: v.optional(v.string()),
  }),
  table: marks,
  range: ({ owner, rank }, _viewer: Viewer) => ({
    eq: { owner: owner ?? "00000000-0000-4000-8000-000000000000", ...(rank !== undefined && { rank }) },
  }),
  order: { field: "rank", direction: "asc" },
  page: { argument: "after", size: 10 },
})

const suite = engineSuite()
let engine: Engine
let client: ReferenceClient
let lastId = 0

beforeAll(async () => {
  await suite.sql.unsafe(`
    create table marks (_id uuid primary key, owner uuid not null, rank integer not null);
    create unique index marks_range on marks (owner, rank, _id);
    alter table marks replica identity using index marks_range`)
  engine = await startEngine(
    suite.databaseUrl,
    { messagesPerSecond: 100_000 },
    { tables: [threads, messages, marks], queries: [inThread, newest, pages], mutations: [addMessage] },
  )
})
afterAll(async () => {
  await engine.close()
})

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
  fc.constantFrom(
    "",
    "\0",
    "\ud800",
    "NaN",
    "0",
    "-1",
    "99999999999",
    "9".repeat(19),
    "9".repeat(30),
    "1e5",
    " ",
  ),
)
const place = fc.oneof(
  text,
  fc.tuple(text, text).map(([key, value]) => `${key}~${value}`),
  fc.constantFrom("0~0", " ~ ", "NaN~x", "~", "a~1~2", "00000000-0000-4000-8000-000000000000~2147483648"),
)
const anything = fc.oneof(fc.anything({ withNullPrototype: false }), fc.jsonValue(), text, place)
const args = fc.oneof(
  anything,
  fc.record({ after: fc.oneof(place, anything) }),
  fc.record({ threadId: fc.oneof(text, anything), after: place }, { requiredKeys: ["threadId"] }),
  fc.record(
    { owner: text, rank: fc.oneof(fc.double(), fc.integer(), fc.bigInt().map(Number)), after: place },
    { requiredKeys: [] },
  ),
)
const query = fc.oneof(
  fc.constantFrom("marks.pages", "messages.newest", "messages.inThread", "__proto__"),
  anything,
)
const REFUSALS = ["invalid", "unknown", "not_found", "conflict"]

/** As the client sends it: JSON has fewer values than JavaScript. */
function sent(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value) ?? "null")
  } catch {
    return null
  }
}

async function connected() {
  if (!client?.connected) client = await suite.connect("ada", engine.url)
  return client
}

it("an invalid subscription is refused without affecting others, and is not logged as an error", async () => {
  await fc.assert(
    fc.asyncProperty(query, args, anything, async (name, given, have) => {
      const [first, odd, last] = [++lastId, ++lastId, ++lastId]
      const answer = await (
        await connected()
      ).ask<SubscribeAnswer>("subscribe", {
        subscriptions: [
          { id: first, query: "messages.inThread", args: { threadId: "t" } },
          { id: odd, query: sent(name), args: sent(given), ...(have !== undefined && { have: sent(have) }) },
          { id: last, query: "marks.pages", args: {} },
        ],
      })
      const refused = answer.refused.map(({ error }) => error.code)
      client.emit("unsubscribe", { ids: [first, odd, last] })
      expect(answer.error).toBeUndefined()
      expect(answer.accepted).toEqual(expect.arrayContaining([first, last]))
      expect(REFUSALS).toEqual(expect.arrayContaining(refused))
    }),
    { numRuns: 300 },
  )
  expect(engine.lines.filter(({ level }) => level === "error")).toEqual([])
})

it("an invalid query or mutation is refused, and is not logged as an error", async () => {
  await fc.assert(
    fc.asyncProperty(query, args, fc.oneof(text, anything), async (name, given, id) => {
      const link = await connected()
      const answers = [
        await link.ask<{ error?: { code: string } }>("query", { query: sent(name), args: sent(given) }),
        await link.ask<{ error?: { code: string } }>("mutate", {
          mutation: "messages.add",
          args: { id: "1", threadId: sent(given), body: sent(id) },
          mutationId: sent(id),
        }),
        await link.ask<{ error?: { code: string } }>("mutate", sent(given)),
      ]
      const codes = answers.flatMap(({ error }) => (error ? [error.code] : []))
      expect(REFUSALS).toEqual(expect.arrayContaining(codes))
    }),
    { numRuns: 300 },
  )
  expect(engine.lines.filter(({ level }) => level === "error")).toEqual([])
})

it("a value nested deeper than any stack is validated all the same", () => {
  expect([isStorable(nest('"deep"')), isStorable(nest(String.raw`"\u0000"`))]).toEqual([true, false])
})

function nest(inner: string): unknown {
  return JSON.parse(`${"[".repeat(30_000)}${inner}${"]".repeat(30_000)}`)
}
