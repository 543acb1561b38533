import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import postgres from "postgres"
import { startEmbeddedPostgres } from "#db/embedded/postgres.ts"
import { buildApp, builtServer, isOutOfDate } from "#server/commands/bundle.ts"
import { signUpAll, type Person } from "../accounts.ts"
import { root } from "../http/candidates.ts"
import { startServer, stopServer } from "../http/processes.ts"
import { inTurn } from "../http/stage.ts"
import { printTable, rounded, show } from "../print.ts"
import { describeMachine } from "../results.ts"
import { median } from "../statistics.ts"

const PORT = 3977
const ORIGIN = `http://localhost:${PORT}`

/** `DATABASE_CONNECTIONS` of the candidates: the default, and nearly what there was before it. */
const CONNECTIONS = [12, 21] as const

/** Requests that are always under way, and seconds of each load. */
const AT_ONCE = 40
const SECONDS = 4
const ROUNDS = 5

const LOADS = {
  /** Rendered from a snapshot of the live queries. */
  dashboard: (person: Person) => ask(person, "/dashboard/files"),
  /** Reads by the connections for requests. */
  list: (person: Person) => ask(person, "/api/files"),
  /** Stores a file of one byte: three transactions. */
  write: (person: Person) => ask(person, "/api/files?name=byte.txt", { method: "POST", body: "1" }),
}

type Name = keyof typeof LOADS

/**
 * Measures requests per second with the default number of connections, and with more. PostgreSQL,
 * the server and the client share this machine, so only the ratio counts.
 */
export async function measureConnections({ short }: { short: boolean }): Promise<object> {
  if (isOutOfDate(root)) await buildApp(root)
  const machine = describeMachine()
  const folder = mkdtempSync(join(tmpdir(), "tideline-bench-"))
  const cluster = await startEmbeddedPostgres({ directory: join(folder, "postgres") })
  const measured: { connections: number; load: Name; perSecond: number; open: number }[] = []
  try {
    for (let round = 0; round < (short ? 1 : ROUNDS); round++)
      for (const connections of inTurn(CONNECTIONS, round))
        measured.push(...(await measureOne(folder, cluster.url, connections)))
  } finally {
    await cluster.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  report(measured)
  return { machine, measured }
}

async function measureOne(folder: string, databaseUrl: string, connections: number) {
  const served = await startServer([builtServer(root)], {
    port: PORT,
    path: "/api/health",
    cwd: folder,
    env: {
      PORT: String(PORT),
      HOST: "127.0.0.1",
      TRUSTED_PROXIES: "1",
      DATABASE_URL: databaseUrl,
      DATABASE_CONNECTIONS: String(connections),
      FILES_QUOTA_FREE: "100GB",
      AUTH_SECRET: "a secret for measuring, and for nothing else",
      MAIL_INBOX_PORT: "0",
      LOG_LEVEL: "error",
    },
  })
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} })
  try {
    const people = await signUpAll(ORIGIN)
    for (const person of people) await ask(person, "/onboarding")
    await sql`update users set onboarding_completed = true`
    const measured = []
    for (const load of Object.keys(LOADS) as Name[]) {
      await run(load, people, 1)
      const perSecond = await run(load, people, SECONDS)
      const [row] = await sql<[{ open: number }]>`
        select count(*)::int as open from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`
      measured.push({ connections, load, perSecond, open: row.open })
      process.stderr.write(`${JSON.stringify(measured.at(-1), rounded)}\n`)
    }
    return measured
  } finally {
    await sql.end()
    await stopServer(served)
  }
}

/** Requests answered per second, by so many people in turn. */
async function run(load: Name, people: readonly Person[], seconds: number): Promise<number> {
  const begun = performance.now()
  const end = begun + seconds * 1000
  let answered = 0
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, first) => {
      for (let turn = first; performance.now() < end; turn++) {
        await LOADS[load](people[turn % people.length]!)
        answered++
      }
    }),
  )
  return (answered * 1000) / (performance.now() - begun)
}

async function ask(person: Person, path: string, init: RequestInit = {}): Promise<void> {
  const headers = {
    cookie: person.cookie,
    "x-forwarded-for": person.address,
    origin: ORIGIN,
  }
  const response = await fetch(ORIGIN + path, { ...init, headers })
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}.`)
}

function report(measured: readonly { connections: number; load: Name; perSecond: number; open: number }[]) {
  const of = (load: Name, connections: number) =>
    measured.filter((each) => each.load === load && each.connections === connections)
  const [few, many] = CONNECTIONS
  printTable(
    ["requests/s", `at most ${few}`, `at most ${many}`, "ratio", "open"],
    (Object.keys(LOADS) as Name[]).map((load) => {
      const [less, more] = [few, many].map((each) => median(of(load, each).map(({ perSecond }) => perSecond)))
      const open = [few, many].map((each) => Math.max(...of(load, each).map((one) => one.open)))
      return [load, show(less), show(more), show(less! / more!), open.join(" / ")]
    }),
  )
}
