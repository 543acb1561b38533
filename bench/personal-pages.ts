import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import postgres from "postgres"
import { startEmbeddedPostgres } from "#db/embedded/postgres.ts"
import { buildApp, builtServer, isOutOfDate } from "#server/commands/bundle.ts"
import { signUpAll, type Person } from "./accounts.ts"
import { cpuOf, startServer, stopServer } from "./http/processes.ts"
import { inTurn } from "./http/stage.ts"
import { printTable, show } from "./print.ts"
import { median } from "./statistics.ts"

// node bench/personal-pages.ts <server of another build> measures what personal pages cost this
// build and the other in turn: CPU time of the server for a request, and requests per second.

const PATHS = { dashboard: "/dashboard", list: "/api/files", health: "/api/health" }
type Name = keyof typeof PATHS

const ROUNDS = 7
/** Requests that are always under way, and seconds of each load. */
const AT_ONCE = 20
const SECONDS = 3
const PORT = 3979
const ORIGIN = `http://localhost:${PORT}`

const other = process.argv[2]
if (!other) {
  process.stderr.write("Name the other build: node bench/personal-pages.ts <.../build/server/index.js>\n")
  process.exit(1)
}
const root = resolve(import.meta.dirname, "..")
if (isOutOfDate(root)) await buildApp(root)
const builds = { this: builtServer(root), other: resolve(other) }
type Build = keyof typeof builds
let asked = 0

const folder = mkdtempSync(join(tmpdir(), "tideline-bench-"))
const cluster = await startEmbeddedPostgres({ directory: join(folder, "postgres") })
const measured: { build: Build; name: Name; cpuMs: number; perSecond: number }[] = []
try {
  const admin = postgres(cluster.url, { max: 1 })
  for (const build of Object.keys(builds)) await admin`create database ${admin(build)}`
  await admin.end()
  for (let round = 0; round < ROUNDS; round++)
    for (const build of inTurn(Object.keys(builds) as Build[], round)) await measure(build)
} finally {
  await cluster.stop()
  rmSync(folder, { recursive: true, force: true })
}
report()

async function measure(build: Build): Promise<void> {
  const database = new URL(cluster.url)
  database.pathname = `/${build}`
  const served = await startServer([builds[build]], {
    port: PORT,
    path: "/api/health",
    cwd: folder,
    env: {
      PORT: String(PORT),
      HOST: "127.0.0.1",
      TRUSTED_PROXIES: "1",
      DATABASE_URL: database.href,
      AUTH_SECRET: "a secret for measuring, and for nothing else",
      MAIL_INBOX_PORT: "0",
      LOG_LEVEL: "error",
    },
  })
  const sql = postgres(database.href, { max: 1, onnotice() {} })
  try {
    const people = await signUpAll(ORIGIN)
    for (const person of people) await ask(person, "/onboarding")
    await sql`update users set onboarding_completed = true`
    for (const name of Object.keys(PATHS) as Name[]) {
      await run(PATHS[name], people, 1)
      const before = cpuOf(served.child.pid!)
      const begun = performance.now()
      const answered = await run(PATHS[name], people, SECONDS)
      measured.push({
        build,
        name,
        cpuMs: (cpuOf(served.child.pid!) - before) / answered,
        perSecond: (answered * 1000) / (performance.now() - begun),
      })
    }
  } finally {
    await sql.end()
    await stopServer(served)
  }
}

/** Resolves to the number of requests that were answered. */
async function run(path: string, people: readonly Person[], seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1000
  let answered = 0
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, first) => {
      for (let turn = first; performance.now() < end; turn++) {
        await ask(people[turn % people.length]!, path)
        answered++
      }
    }),
  )
  return answered
}

/** Each request comes from an address of its own, as those of one are limited. */
async function ask(person: Person, path: string): Promise<void> {
  asked++
  const address = `10.${(asked >> 16) & 255}.${(asked >> 8) & 255}.${asked & 255}`
  const headers = { cookie: person.cookie, "x-forwarded-for": address }
  const response = await fetch(ORIGIN + path, { headers })
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}.`)
}

function report(): void {
  const of = (build: Build, name: Name, figure: "cpuMs" | "perSecond") =>
    median(measured.filter((each) => each.build === build && each.name === name).map((each) => each[figure]))
  printTable(
    ["", "CPU ms of a request, this build", "the other", "ratio", "requests/s, this build", "the other"],
    (Object.keys(PATHS) as Name[]).map((name) => {
      const [cpu, cpuBefore] = [of("this", name, "cpuMs"), of("other", name, "cpuMs")]
      const [speed, speedBefore] = [of("this", name, "perSecond"), of("other", name, "perSecond")]
      return [name, show(cpu), show(cpuBefore), (cpu / cpuBefore).toFixed(2), show(speed), show(speedBefore)]
    }),
  )
}
