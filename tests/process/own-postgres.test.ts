import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { inAll } from "../support/all.ts"
import { startCluster, type Cluster } from "../realtime/support/cluster.ts"
import { spawnTideline } from "../support/spawn-tideline.ts"
import { runBuiltCommand } from "../support/commands.ts"
import { startPgbouncer } from "../support/pgbouncer.ts"
import { findFreePort } from "../support/ports.ts"

// A PostgreSQL that somebody else set up.

let cluster: Cluster
let url: string
let ops: string

beforeAll(async () => {
  cluster = await startCluster({ max_slot_wal_keep_size: "-1", max_replication_slots: "3" })
  await cluster.admin`create database own`
  url = addressOf("own")
})

afterAll(() => cluster.stop())

describe("an external PostgreSQL", () => {
  it("whose role may not read the log stops the start, with the statement that grants it", async () => {
    await cluster.admin`create role "no stream" login password 'secret'`
    await cluster.admin`grant all on database own to "no stream"`
    const address = new URL(url)
    address.username = "no stream"
    address.password = "secret"
    const { code, output } = await startAndEnd({ DATABASE_URL: address.href })
    expect(code).toBe(1)
    expect(output).toContain(
      'The role no stream may not read PostgreSQL\'s log. Run: ALTER ROLE "no stream" REPLICATION;',
    )
    expect(output).not.toContain("secret")
    expect(await tablesOf(url)).toBe(0)
  })

  inAll(
    "behind a pooler stops the start with what to configure, and leaves no lock in the pooler",
    async () => {
      const pooler = await startPgbouncer(url)
      onTestFinished(() => pooler.stop())
      const wrong = await startAndEnd({ DATABASE_URL: pooler.url })
      expect(wrong.code).toBe(1)
      expect(wrong.output).toContain("DATABASE_URL cannot be used. It leads to a connection pooler")
      expect(wrong.output).toContain("set DATABASE_STREAM_URL to PostgreSQL's own address")
      const both = await startAndEnd({ DATABASE_URL: pooler.url, DATABASE_STREAM_URL: pooler.url })
      expect(both.output).toContain("DATABASE_STREAM_URL cannot be used. It leads to a connection pooler")
      expect(await cluster.admin`select 1 from pg_locks where locktype = 'advisory'`).toHaveLength(0)
      expect(await tablesOf(url)).toBe(0)
    },
  )

  inAll(
    "with fewer free connections than a process needs is named at the start, with what to change",
    async () => {
      const server = await startOn(url, { DATABASE_CONNECTIONS: "200" })
      const warned = server.log.filter((line) => line.includes('"about":"Connections"'))
      expect(warned).toHaveLength(1)
      expect(warned[0]).toMatch(/\d+ of \d+ connections are free; a busy process opens up to 200/)
      expect(warned[0]).toContain("ALTER SYSTEM SET max_connections = 400; and restart PostgreSQL")
    },
  )

  inAll(
    "without a free replication slot is waited for: readiness and one log entry say what to do",
    async () => {
      const taken = ["one", "two", "three"]
      for (const name of taken) await cluster.admin`select pg_create_physical_replication_slot(${name})`
      const server = await startOn(url)
      const advice = "ALTER SYSTEM SET max_replication_slots"
      await expect.poll(async () => (await readiness()).checks.records).toContain(advice)
      expect((await readiness()).status).toBe(503)
      expect(await healthOfContainer()).toBe(1)
      // Several attempts later.
      await expect.poll(async () => reconnects(), { timeout: 30_000 }).toBeGreaterThan(4)
      expect(server.log.filter((line) => line.includes(advice))).toHaveLength(1)
      for (const name of taken) await cluster.admin`select pg_drop_replication_slot(${name})`
      await expect.poll(async () => (await readiness()).status, { timeout: 30_000 }).toBe(200)
      expect(await healthOfContainer()).toBe(0)
      const { failures } = await server.logged("The replication stream is back.")
      expect(failures).toBeGreaterThan(4)
    },
  )

  inAll(
    "without a limit on the log kept for a stopped process logs a warning at the start, with the statement that sets one",
    async () => {
      const server = await startOn(url)
      const warned = () => server.log.filter((line) => line.includes("max_slot_wal_keep_size"))
      expect(warned()).toHaveLength(1)
      expect(warned()[0]).toContain(
        "ALTER SYSTEM SET max_slot_wal_keep_size = '4GB'; SELECT pg_reload_conf();",
      )
    },
  )
})

describe("npm run leave", () => {
  it("waits until no process runs, releases PostgreSQL's log, and can be undone", async () => {
    const server = await startOn(url)
    const early = await leave()
    expect(early.code).toBe(1)
    expect(early.output).toContain("A Tideline runs on this database. Stop it first.")
    server.child.kill("SIGTERM")
    await server.exited

    expect(await heldIn(url)).toEqual({ slots: 1, publications: 1 })
    const left = await leave()
    expect(left.output).toContain("The replication slot and the publication are removed.")
    expect(left.code).toBe(0)
    expect(await heldIn(url)).toEqual({ slots: 0, publications: 0 })
    expect(await tablesOf(url)).toBeGreaterThan(10)
    expect((await leave()).output).toContain("There was no replication slot and no publication.")

    await startOn(url)
    await expect.poll(async () => (await readiness()).status, { timeout: 30_000 }).toBe(200)
  })

  it("removes every record on request, and nothing that is not Tideline's", async () => {
    const sql = postgres(url, { max: 1, onnotice() {} })
    await sql`create table of_others (id int)`
    const left = await leave("--remove-data")
    expect(left.output).toContain("All records are removed from the database.")
    expect(await heldIn(url)).toEqual({ slots: 0, publications: 0 })
    const rest = await sql`
      select relname as name from pg_class join pg_namespace n on n.oid = relnamespace
      where nspname not like 'pg\\_%' and nspname <> 'information_schema'
      union all select proname from pg_proc where pronamespace = 'public'::regnamespace
      union all select nspname from pg_namespace where nspname not like 'pg\\_%' and nspname not in ('public', 'information_schema')`
    await sql.end()
    expect(rest.map(({ name }) => String(name))).toEqual(["of_others"])
  })
})

function leave(...words: string[]) {
  return runBuiltCommand("leave", words, { folder: tmpdir(), env: { DATABASE_URL: url } })
}

async function heldIn(databaseUrl: string) {
  const sql = postgres(databaseUrl, { max: 1 })
  const [row] = await sql`select
    (select count(*)::int from pg_replication_slots where database = current_database() and not temporary) as slots,
    (select count(*)::int from pg_publication) as publications`
  await sql.end()
  return { ...row }
}

async function startOn(databaseUrl: string, env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "tideline-"))
  const port = await findFreePort()
  ops = `http://127.0.0.1:${port}`
  const server = spawnTideline(folder, {
    PORT: String(await findFreePort()),
    OPS_PORT: String(port),
    DATABASE_URL: databaseUrl,
    ...env,
  })
  onTestFinished(async () => {
    server.child.kill("SIGTERM")
    await server.exited
    rmSync(folder, { recursive: true, force: true })
  })
  await server.logged("Tideline is ready")
  return server
}

async function startAndEnd(env: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), "tideline-"))
  const server = spawnTideline(folder, { PORT: String(await findFreePort()), ...env })
  // A server that starts nevertheless would run for ever.
  void server.logged("Tideline is ready").then(
    () => server.child.kill("SIGKILL"),
    () => {},
  )
  const code = await server.exited
  rmSync(folder, { recursive: true, force: true })
  return { code, output: server.log.join("\n") }
}

async function readiness() {
  const answer = await fetch(`${ops}/readyz`)
  const body = (await answer.json()) as { checks: { records: string } }
  return { status: answer.status, ...body }
}

async function reconnects() {
  const metrics = await (await fetch(`${ops}/metrics`)).text()
  return Number(/^tideline_realtime_stream_reconnects_total (\d+)$/m.exec(metrics)?.[1])
}

/** The exit code of the image's HEALTHCHECK. */
async function healthOfContainer(): Promise<number> {
  const image = readFileSync(resolve(import.meta.dirname, "../../Dockerfile"), "utf8")
  const [, words = "[]"] = /^HEALTHCHECK .*?CMD (\[.*\])$/m.exec(image) ?? []
  const [, ...args] = JSON.parse(words) as string[]
  const env = { OPS_PORT: new URL(ops).port, PORT: "1" }
  return promisify(execFile)(process.execPath, args, { env }).then(
    () => 0,
    ({ code }: { code: number }) => code,
  )
}

function addressOf(database: string) {
  const address = new URL(cluster.url)
  address.pathname = `/${database}`
  return address.href
}

async function tablesOf(databaseUrl: string) {
  const sql = postgres(databaseUrl, { max: 1 })
  const [row] =
    await sql`select count(*)::int as count from pg_tables where schemaname in ('public', 'drizzle')`
  await sql.end()
  return Number(row?.["count"])
}
