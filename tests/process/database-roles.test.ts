import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { randomUUID } from "node:crypto"
import { tmpdir } from "node:os"
import { join } from "node:path"
import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { spawnTideline } from "../support/spawn-tideline.ts"
import { runBuiltCommand } from "../support/commands.ts"
import { openLiveSocket, realtimeToken } from "../support/live.ts"
import { ada as adaLovelace, postJson, signUp } from "../support/people.ts"
import { findFreePort } from "../support/ports.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { withResource } from "../support/with-resource.ts"

// One role owns the tables and migrates; the server has another.

const role = `app_${randomUUID().replaceAll("-", "").slice(0, 8)}`

const database = withResource(() => createTestDatabase({ empty: true }))
let folder: string
let file: string
let url: string
let app: TidelineApp | undefined
let owner: postgres.Sql

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tideline-roles-"))
  file = join(folder, "database-url")
  const address = new URL(database.url)
  address.username = role
  address.password = "a secret of its own"
  url = address.href
  writeFileSync(file, `${url}\n`)
  owner = postgres(database.url, { max: 1, onnotice() {} })
})

afterAll(async () => {
  await app?.stop()
  await owner.unsafe(`drop owned by "${role}"; drop role "${role}"`)
  await owner.end()
  rmSync(folder, { recursive: true, force: true })
})

const migrate = () =>
  runBuiltCommand("migrate", ["--for", file], { folder, env: { DATABASE_URL: database.url } })

describe("a server whose role owns no tables", () => {
  it("is told to run the migration first if that was not done", async () => {
    await owner.unsafe(`create role "${role}" login replication password 'a secret of its own'`)
    const server = spawnTideline(folder, { PORT: String(await findFreePort()), DATABASE_URL: url })
    expect(await server.exited).toBe(1)
    expect(server.log.join("\n")).toContain(
      "npm run migrate (with containers: docker compose run --rm database)",
    )
    expect(server.log.join("\n")).not.toContain("secret")
  })

  it("starts after it, and supports every feature", async () => {
    for (let time = 0; time < 2; time++) {
      const { code, output } = await migrate()
      expect(output).toContain(`The role ${role} has access to it.`)
      expect(code).toBe(0)
      expect(output).not.toContain("secret")
    }
    app = await startTideline({ DATABASE_URL: url })
    const ada = await signUp(app, adaLovelace)
    expect((await postJson(ada, "/api/chat/threads", {})).status).toBe(201)
    const socket = await openLiveSocket(app, await realtimeToken(ada))
    const renamed = await socket.mutate("files.emptyTrash", {})
    expect(renamed).not.toHaveProperty("error")
    socket.close()
    expect(app.log.filter((line) => line.startsWith("{") && JSON.parse(line).level >= 40)).toEqual([])
  })

  it("may neither run programs, nor change the operators' history, nor alter a table", async () => {
    await owner`insert into operator_acts (_creation_time, act, detail) values (1, 'invite', 'ada@example.org')`
    const sql = postgres(url, { max: 1, onnotice() {} })
    const refused = async (statement: string, code: string) =>
      expect
        .soft(
          await sql.unsafe(statement).then(
            () => "done",
            (error) => error.code,
          ),
          statement,
        )
        .toBe(code)
    const denied = "42501"
    await refused("copy (select 1) to program 'cat'", denied)
    await refused("copy operator_acts to '/tmp/acts'", denied)
    await refused("select pg_read_file('/etc/passwd')", denied)
    await refused("update operator_acts set detail = 'other'", "23001")
    await refused("delete from operator_acts", "23001")
    await refused("truncate operator_acts", denied)
    await refused("alter table operator_acts disable trigger all", denied)
    await refused("drop trigger operator_acts_keep on operator_acts", denied)
    await refused(
      "create or replace function keep_operator_acts() returns trigger language sql as ''",
      denied,
    )
    await refused("update auth.security_event set event = 'allowed'", "23001")
    await refused("delete from auth.security_event", "23001")
    await refused("alter table auth.security_event disable trigger all", denied)
    await refused("set session_replication_role = replica", denied)
    await refused("drop table operator_acts", denied)
    await refused("create table mine (id int)", denied)
    await refused(`alter role "${role}" superuser`, denied)
    await refused("delete from drizzle.__drizzle_migrations", denied)
    await sql.end()
  })
})
