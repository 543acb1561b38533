import { randomUUID } from "node:crypto"
import { describe, expect, it, onTestFinished } from "vitest"
import { startEngine } from "./support/engine.ts"
import { engineSuite } from "./support/suite.ts"
import { transactOn } from "#live/open"

const suite = engineSuite()

describe("a mutation", () => {
  it("returns its value, and the commit that contains it names its transaction", async () => {
    const client = await suite.connect()
    const list = await client.follow("messages.inThread", { threadId: "t" })
    const answer = await client.mutate(
      "messages.add",
      { id: "1", threadId: "t", body: "hello" },
      randomUUID(),
    )
    expect(answer.value).toEqual({ id: "1" })
    await client.until(() => list.rows.has("1"), "the row")
    const commits = client.events.filter(({ event }) => event === "commit")
    expect(commits.flatMap((event) => (event.event === "commit" ? event.xids : []))).toContain(answer.xid)
  })

  it("that changes nothing, or nothing that this client sees, settles within a second", async () => {
    const client = await suite.connect()
    await client.follow("messages.inThread", { threadId: "t" })
    for (const [name, args] of [
      ["messages.touchNothing", {}],
      ["messages.add", { id: "x", threadId: "elsewhere", body: "" }],
    ] as const) {
      const { lsn } = await client.mutate(name, args, randomUUID())
      await client.until(() => (client.position?.lsn ?? "") >= lsn, "a position past it", 1000)
    }
  })

  it("that is repeated after its response was lost is applied once, with the same response", async () => {
    const first = await suite.connect()
    const mutationId = randomUUID()
    const args = { id: "1", threadId: "t", body: "once" }
    // The request arrives and the response is lost.
    void first.mutate("messages.add", args, mutationId)
    await expect.poll(() => suite.sql`select 1 from messages`, { interval: 2 }).toHaveLength(1)
    first.close()
    const second = await suite.connect()
    const answer = await second.mutate("messages.add", args, mutationId)
    expect(answer.error).toBeUndefined()
    expect(answer.value).toEqual({ id: "1" })
    expect(await suite.sql`select 1 from messages`).toHaveLength(1)
  })

  it("that is sent twice concurrently is applied once", async () => {
    const [one, two] = [await suite.connect(), await suite.connect()]
    const mutationId = randomUUID()
    const args = { id: "1", threadId: "t", body: "once" }
    const answers = await Promise.all([
      one.mutate("messages.add", args, mutationId),
      two.mutate("messages.add", args, mutationId),
    ])
    expect(answers.map(({ value }) => value)).toEqual([{ id: "1" }, { id: "1" }])
    expect(answers[0]?.xid).toBe(answers[1]?.xid)
  })

  it("refuses an id that was used for something else, but not another user's", async () => {
    const ada = await suite.connect()
    const mutationId = randomUUID()
    await ada.mutate("messages.add", { id: "1", threadId: "t", body: "" }, mutationId)
    const other = await ada.mutate("messages.add", { id: "2", threadId: "t", body: "" }, mutationId)
    expect(other.error).toMatchObject({ code: "conflict" })
    const eve = await suite.connect("eve")
    expect(
      (await eve.mutate("messages.add", { id: "3", threadId: "t", body: "" }, mutationId)).error,
    ).toBeUndefined()
  })

  it("that is refused leaves nothing behind and may be retried", async () => {
    const client = await suite.connect()
    await suite.sql`insert into messages (_id, thread_id, owner) values ('1', 't', 'ada')`
    const mutationId = randomUUID()
    const args = { id: "1", threadId: "t", body: "" }
    const refused = await client.mutate("messages.add", args, mutationId)
    expect(refused.error).toEqual({ code: "conflict", message: "There is a message 1 already." })
    await suite.sql`delete from messages`
    expect((await client.mutate("messages.add", args, mutationId)).value).toEqual({ id: "1" })
  })

  it.each([
    ["", {}],
    [" with the HTTP status of somebody else's API", { status: 404 }],
  ])(
    "that fails%s reveals nothing of the server to the client, and everything to the log",
    async (_of, args) => {
      const client = await suite.connect()
      const before = suite.engine.lines.length
      const { error } = await client.mutate("messages.fail", args, randomUUID())
      expect(error?.code).toBe("internal")
      expect(JSON.stringify(error)).not.toContain("secret")
      expect(suite.engine.lines.slice(before).filter(({ level }) => level === "error")).toHaveLength(1)
    },
  )

  it.each([
    ["an unknown name", { mutation: "messages.drop", args: {} }, "unknown"],
    ["wrong arguments", { mutation: "messages.add", args: { id: 1 } }, "invalid"],
    ["no mutation id", { mutation: "messages.add", args: {}, mutationId: undefined }, "invalid"],
  ])("with %s is refused", async (_name, message, code) => {
    const client = await suite.connect()
    const answer = await client.ask("mutate", { mutationId: randomUUID(), ...message })
    expect(answer).toMatchObject({ error: { code } })
  })

  it("that takes too long is refused at the timeout, with those queued behind it, and succeeds when it is sent again", async () => {
    const stopped = Promise.withResolvers<void>()
    const engine = await startEngine(
      suite.databaseUrl,
      { answerMs: 100 },
      {
        async transact(viewer, work) {
          await stopped.promise
          return transactOn(suite.sql)(viewer, work)
        },
      },
    )
    onTestFinished(() => engine.close())
    const client = await suite.connect("ada", engine.url)
    const calls = ["1", "2"].map((id) => [{ id, threadId: "t", body: "" }, randomUUID()] as const)
    const send = () => Promise.all(calls.map(([args, id]) => client.mutate("messages.add", args, id)))
    for (const { error } of await send())
      expect(error).toMatchObject({ code: "unavailable", retryAfter: 1000 })
    stopped.resolve()
    const again = async () => (await send()).map(({ value }) => value)
    await expect.poll(again).toEqual([{ id: "1" }, { id: "2" }])
    expect(await suite.sql`select _id from messages order by _id`).toHaveLength(2)
    expect(engine.lines.filter(({ level }) => level === "error")).toEqual([])
  })

  it("waits for those sent before it on the same connection", async () => {
    const client = await suite.connect()
    const answers = await Promise.all(
      ["1", "2", "1"].map((id) =>
        client.mutate("messages.add", { id, threadId: "t", body: "" }, randomUUID()),
      ),
    )
    expect(answers.map(({ error }) => error?.code)).toEqual([undefined, undefined, "conflict"])
  })
})
