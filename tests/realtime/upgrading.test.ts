import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { defineLiveQuery, type TableDescription } from "../../live/server/live-query.ts"
import { ReferenceClient } from "./support/client.ts"
import { startCluster, type Cluster } from "./support/cluster.ts"
import { startEngine, type Engine } from "./support/engine.ts"
import { catchUp } from "./support/oracle.ts"
import { inThread, messages, threads, type MessageRow, type Viewer } from "./support/tables.ts"

/** The version after a migration that adds a column reads it, and pages by it. */
const graded: TableDescription<MessageRow & { grade: number }> = {
  schema: messages.schema,
  name: messages.name,
  identity: [...messages.identity, "grade"],
  columns: { ...messages.columns, grade: { name: "grade", decode: Number } },
}
const gradedInThread = defineLiveQuery({
  name: "messages.inThread",
  description: "For the tests of the engine.",
  args: inThread.schema,
  table: graded,
  range: (args, viewer: Viewer) => inThread.range(args, viewer) as { eq: { threadId: string } },
})
const gradedBest = defineLiveQuery({
  name: "messages.best",
  description: "For the tests of the engine.",
  args: inThread.schema,
  table: graded,
  range: (args, viewer: Viewer) => ({ eq: { ...inThread.range(args, viewer).eq, grade: 7 } }),
})
const MIGRATION = `
  alter table messages add column grade integer not null default 7;
  create unique index messages_graded on messages (thread_id, owner, grade, _creation_time, _id);
  alter table messages replica identity using index messages_graded;
`
const REVERSAL = `
  alter table messages replica identity using index messages_range;
  alter table messages drop column grade;
`

let cluster: Cluster
const clients: ReferenceClient[] = []

beforeAll(async () => {
  cluster = await startCluster()
})

afterAll(async () => {
  await cluster.stop()
})

afterEach(async () => {
  const used = clients.splice(0)
  for (const client of used) client.close()
  await cluster.sql.unsafe(`delete from messages; ${REVERSAL}`)
  expect(used.flatMap(({ violations }) => violations)).toEqual([])
})

async function start(version: "older" | "newer"): Promise<Engine> {
  const engine = await startEngine(
    cluster.url,
    {},
    version === "newer" ? { tables: [threads, graded], queries: [gradedInThread, gradedBest] } : {},
  )
  onTestFinished(() => engine.close())
  return engine
}

async function connect(engine: Engine) {
  const client = new ReferenceClient(engine.url, "ada")
  clients.push(client)
  await client.connect()
  return client
}

function complaints(engine: Engine) {
  return engine.lines.filter(({ level }) => level === "error")
}

describe("a migration that adds a column", () => {
  it("leaves the table's queries live in the version that reads it, whose log begins before the migration", async () => {
    const older = await start("older")
    const stays = await connect(older)
    const list = await stays.follow("messages.inThread", { threadId: "t" })
    await cluster.sql`insert into messages (_id, thread_id, owner) values ('1', 't', 'ada'), ('2', 't', 'ada')`
    await cluster.sql`update messages set body = 'moved', thread_id = 'u' where _id = '2'`
    await stays.until(() => list.rows.size === 1, "the rows")
    await cluster.sql.unsafe(MIGRATION)

    const newer = await start("newer")
    const client = await connect(newer)
    const all = await client.follow("messages.inThread", { threadId: "t" })
    const best = await client.follow("messages.best", { threadId: "t" })
    expect(all.refusal).toBeNull()
    expect(best.refusal).toBeNull()
    expect(newer.realtime.ready()).toEqual({ ready: true })
    expect(complaints(newer)).toEqual([])

    await cluster.sql`insert into messages (_id, thread_id, owner, grade) values ('3', 't', 'ada', 7), ('4', 't', 'ada', 8)`
    await cluster.sql`update messages set grade = 9 where _id = '1'`
    await catchUp(cluster.sql, client)
    await catchUp(cluster.sql, stays)
    expect(client.rowsOf(all).map(({ _id, ["grade"]: grade }) => [_id, grade])).toEqual([
      ["1", 9],
      ["3", 7],
      ["4", 8],
    ])
    expect(client.rowsOf(best).map(({ _id }) => _id)).toEqual(["3"])
    expect(stays.rowsOf(list).map(({ _id }) => _id)).toEqual(["1", "3", "4"])
    expect(client.seen.resets + stays.seen.resets).toBe(0)
    expect(complaints(older)).toEqual([])
  })

  it("lets a client resume at another process of the new version", async () => {
    const first = await start("older")
    await cluster.sql`insert into messages (_id, thread_id, owner) values ('1', 't', 'ada')`
    await cluster.sql.unsafe(MIGRATION)
    const second = await start("newer")
    const client = await connect(second)
    const list = await client.follow("messages.inThread", { threadId: "t" })
    client.close()
    await first.close()
    await cluster.sql`insert into messages (_id, thread_id, owner) values ('2', 't', 'ada')`
    const third = await start("newer")
    await client.resume(third.url)
    await catchUp(cluster.sql, client)
    expect(client.rowsOf(list).map(({ _id }) => _id)).toEqual(["1", "2"])
    expect(client.seen).toMatchObject({ rows: 1, changes: 1, resets: 0 })
  })

  it("makes clients with rows from between two such changes read again, if the log cannot tell the rows apart", async () => {
    await cluster.sql.unsafe(MIGRATION)
    const first = await start("newer")
    const client = await connect(first)
    const list = await client.follow("messages.inThread", { threadId: "t" })
    client.close()
    await first.close()
    // Downgraded and upgraded again: rows written in between have no grade.
    await cluster.sql.unsafe(REVERSAL)
    await cluster.sql`insert into messages (_id, thread_id, owner) values ('1', 't', 'ada')`
    await cluster.sql.unsafe(MIGRATION)
    const second = await start("newer")
    await client.resume(second.url)
    await catchUp(cluster.sql, client)
    expect(client.rowsOf(list).map(({ _id, ["grade"]: grade }) => [_id, grade])).toEqual([["1", 7]])
    expect(client.seen).toMatchObject({ rows: 2, changes: 0, resets: 0 })
  })
})
