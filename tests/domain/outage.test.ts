import { once } from "node:events"
import { createServer } from "node:net"
import { Writable } from "node:stream"
import { drizzle } from "drizzle-orm/postgres-js"
import { pino } from "pino"
import postgres from "postgres"
import { expect, it, onTestFinished } from "vitest"
import { reasonOf } from "#live/check"
import { describeError } from "#server/log.ts"
import { portOf } from "../support/port-of.ts"
import { findFreePort } from "../support/ports.ts"

it("a database that never answers is named in words, with its address and without a stack", async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => void server.close())
  const error = await failureAt(`postgres://ada@127.0.0.1:${portOf(server)}/tideline`)
  const message = `127.0.0.1:${portOf(server)} did not answer in time`
  expect(reasonOf(error)).toBe(message)
  expect(logged(error)).toEqual({ type: expect.any(String), message })
})

it("a database whose port is closed is named by its address, also if its name has several", async () => {
  const port = await findFreePort()
  const refused = `connect ECONNREFUSED 127.0.0.1:${port}`
  expect(reasonOf(await failureAt(`postgres://ada@127.0.0.1:${port}/tideline`))).toBe(refused)
  const both = new AggregateError([new Error(`connect ECONNREFUSED ::1:${port}`), new Error(refused)])
  expect(reasonOf(Object.assign(both, { code: "ECONNREFUSED" }))).toBe(
    `connect ECONNREFUSED ::1:${port}; ${refused}`,
  )
})

it("an error that says what to do is not replaced by its cause", () => {
  const cause = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:9"), { code: "ECONNREFUSED" })
  const advice = "The bucket backups cannot be used (it does not answer). Check BACKUP_URL."
  expect(reasonOf(new Error(advice, { cause }))).toBe(advice)
})

/** What a statement fails with, without what it would have stored. */
async function failureAt(url: string): Promise<unknown> {
  const sql = postgres(url, { max: 1, connect_timeout: 1 })
  onTestFinished(() => sql.end({ timeout: 0 }))
  return drizzle(sql)
    .execute("select 'a secret'")
    .then(
      () => null,
      (error: unknown) => error,
    )
}

function logged(error: unknown): unknown {
  let line = ""
  const stream = new Writable({
    write(chunk, _encoding, done) {
      line += String(chunk)
      done()
    },
  })
  pino({ serializers: { err: describeError } }, stream).error({ err: error }, "It failed.")
  expect(line).not.toContain("secret")
  return (JSON.parse(line) as { err: unknown }).err
}
