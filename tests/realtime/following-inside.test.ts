import { expect, it, onTestFinished } from "vitest"
import { engineSuite } from "./support/suite.ts"

const suite = engineSuite()

/** Every notification about a thread's messages, as bodies by id. */
async function followInside(threadId: string) {
  const received: Record<string, unknown>[] = []
  const stop = suite.engine.realtime.follow({ query: "messages.inThread", args: { threadId } }, (rows) => {
    received.push(Object.fromEntries(rows.map((row) => [row._id, "body" in row ? row.body : undefined])))
  })
  onTestFinished(stop)
  await expect.poll(() => received.length).toBeGreaterThan(0)
  return { received, stop, last: () => received.at(-1) }
}

function add(id: string, body: string, threadId = "harbour") {
  return suite.sql`insert into messages ${suite.sql({ _id: id, thread_id: threadId, owner: "ada", body })}`
}

it("an in-process subscription is read at first, and notified after every commit that affects it", async () => {
  await add("a", "there before")
  const { received, last } = await followInside("harbour")
  expect(received).toEqual([{ a: "there before" }])
  await suite.sql.begin(async (transaction) => {
    await transaction`insert into messages ${transaction({ _id: "b", thread_id: "harbour", owner: "ada", body: "new" })}`
    await transaction`update messages set body = 'changed' where _id = 'a'`
  })
  await expect.poll(last).toEqual({ a: "changed", b: "new" })
  expect(received).toHaveLength(2)
  await suite.sql`delete from messages where _id = 'a'`
  await expect.poll(last).toEqual({ b: "new" })
})

it("a long text that a commit does not include stays as it was", async () => {
  const long = "wave ".repeat(3000)
  await add("a", long)
  const { received, last } = await followInside("harbour")
  await suite.sql`update messages set note = 'seen' where _id = 'a'`
  await expect.poll(() => received.length).toBe(2)
  expect(last()).toEqual({ a: long })
})

it("all commits are delivered, even more than a socket may leave unacknowledged", async () => {
  const { last } = await followInside("harbour")
  for (let count = 0; count < 300; count++) await add(`m${count}`, "one")
  await expect.poll(() => Object.keys(last() ?? {}).length).toBe(300)
})

it("a subscription reads again after a truncate, and continues", async () => {
  await add("a", "one")
  const { last } = await followInside("harbour")
  await suite.sql`truncate messages`
  await expect.poll(last).toEqual({})
  await add("b", "after it")
  await expect.poll(last).toEqual({ b: "after it" })
})

it("a subscription that was closed receives nothing more", async () => {
  const stopped = await followInside("harbour")
  const other = await followInside("harbour")
  stopped.stop()
  await add("a", "one")
  await expect.poll(other.last).toEqual({ a: "one" })
  expect(stopped.received).toEqual([{}])
  expect(suite.engine.realtime.metrics()["subscriptions"]).toBe(1)
})

it("a subscription on behalf of a person is notified when they lose access", async () => {
  await suite.sql`insert into threads ${suite.sql({ _id: "harbour", owner: "ada", title: "Harbour" })}`
  await add("a", "one")
  let rows = 0
  let refusals = 0
  const stop = suite.engine.realtime.follow(
    { query: "messages.inOwnThread", args: { threadId: "harbour" } },
    (received) => (rows = received.length),
    { viewer: { id: "ada" }, refused: () => refusals++ },
  )
  onTestFinished(stop)
  await expect.poll(() => rows).toBe(1)
  expect(refusals).toBe(0)
  await suite.sql`update threads set owner = 'grace' where _id = 'harbour'`
  await expect.poll(() => refusals).toBe(1)
})
