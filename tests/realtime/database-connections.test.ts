import { expect, it, onTestFinished } from "vitest"
import { openPool } from "../../live/server/pool.ts"
import { openReplication } from "#live/check"
import { startProxy } from "./support/proxy.ts"
import { engineSuite } from "./support/suite.ts"

const suite = engineSuite()

it("a statement that the network drops fails eventually, and the next has a new connection", async () => {
  const address = new URL(suite.databaseUrl)
  const proxy = await startProxy(Number(address.port))
  onTestFinished(() => proxy.close())
  address.port = new URL(proxy.url).port
  const pool = openPool(address.href, 1, { clientTimeout: 500 })
  onTestFinished(() => pool.close())
  const ask = () => pool.useClient((sql) => sql`select 1 as one`)
  expect(await ask()).toHaveLength(1)
  proxy.stall()
  await expect(ask()).rejects.toMatchObject({
    code: expect.stringMatching(/^CONNECTION_(CLOSED|DESTROYED)$/),
  })
  proxy.heal()
  expect(await ask()).toHaveLength(1)
})

it("a stream whose listener fails ends, gives the reason, and delivers nothing more", async () => {
  const connection = openReplication(suite.databaseUrl, "test stream")
  onTestFinished(() => connection.end())
  const slot = `failing_${process.pid}`
  await connection.sql.unsafe(`CREATE_REPLICATION_SLOT ${slot} TEMPORARY LOGICAL pgoutput`).simple()
  const { flushed } = await connection.locate(null)
  let received = 0
  const stream = await connection.start(slot, "tideline", flushed, {
    message() {
      received += 1
      throw new Error("It cannot be read.")
    },
    keepalive() {},
  })
  const over = expect(stream.closed).rejects.toThrow("It cannot be read.")
  await suite.sql`insert into messages (_id, thread_id, owner) values ('1', 't', 'ada'), ('2', 't', 'ada')`
  await over
  expect(received).toBe(1)
})
