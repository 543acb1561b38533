import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import postgres from "postgres"
import { startEmbeddedPostgres } from "#db/embedded/postgres.ts"
import { buildApp, builtServer, isOutOfDate } from "#server/commands/bundle.ts"
import { signUp, type Person } from "../accounts.ts"
import { startThread } from "../chat/threads.ts"
import { root } from "../http/candidates.ts"
import { listening } from "../listening.ts"
import { describeBar, printTable, rounded, show } from "../print.ts"
import { describeMachine } from "../results.ts"
import { median, now } from "../statistics.ts"
import { openReturningClient, type Return } from "./returning-clients.ts"

const PORT = 3976
const ORIGIN = `http://localhost:${PORT}`
const ROUNDS = 20
const SHORT_ROUNDS = 10
const CLIENTS = 10

/**
 * - `quiet`: an external PostgreSQL without other writes.
 * - `busy`: the same, while a row that every client shows is constantly updated, so that the new
 *   process has a minute of log to read.
 * - `embedded`: PostgreSQL stops and starts with the process.
 */
const SETTINGS = ["quiet", "busy", "embedded"] as const
type Setting = (typeof SETTINGS)[number]

/**
 * The write rate of the `busy` setting, and the seconds of writes before the first kill, after
 * which the log that a new process reads is as long as it gets.
 */
const WRITES_PER_SECOND = 200
const WRITES_AHEAD = 70

/**
 * The times at which each client passed its steps, in ms since the new process listens, and the
 * time from the kill until then.
 */
interface Round extends Return {
  round: number
  downFor: number
}

/**
 * Measures the return of all clients after a `kill -9` of the only process, with the whole product
 * and the client that its pages use.
 */
export async function measureReturn({ short }: { short: boolean }): Promise<object> {
  if (isOutOfDate(root)) await buildApp(root)
  const machine = describeMachine()
  const rounds = short ? SHORT_ROUNDS : ROUNDS
  const measured: Record<Setting, Round[]> = { quiet: [], busy: [], embedded: [] }
  for (const setting of SETTINGS) measured[setting] = await measureSetting(setting, rounds)
  report(measured)
  const summaries = SETTINGS.map((setting) => [setting, summariseRounds(measured[setting])])
  return { machine, clients: CLIENTS, rounds: Object.fromEntries(summaries) as object }
}

async function measureSetting(setting: Setting, rounds: number): Promise<Round[]> {
  const folder = mkdtempSync(join(tmpdir(), "tideline-bench-"))
  const cluster =
    setting === "embedded" ? null : await startEmbeddedPostgres({ directory: join(folder, "postgres") })
  const start = () => startProcess(folder, cluster?.url)
  let server = start()
  const closing: (() => Promise<void> | void)[] = []
  try {
    const person = await openAccount()
    const clients = Array.from({ length: CLIENTS }, () => openReturningClient(ORIGIN, person))
    closing.push(...clients.map(({ close }) => close))
    await Promise.all(clients.map(({ opened }) => opened))
    if (setting === "busy" && cluster) {
      await startThread(ORIGIN, person)
      closing.push(keepWriting(cluster.url))
      await pause(WRITES_AHEAD * 1000)
    }
    const results: Round[] = []
    for (let round = 0; round < rounds; round++) {
      const killedAt = now()
      await kill(server)
      server = start()
      await listening(PORT)
      const listeningAt = now()
      const written = startThread(ORIGIN, person)
      const returns = await Promise.all(clients.map((client) => client.waitFor(written)))
      for (const { connected, resumed, seen } of returns) {
        results.push({
          round,
          downFor: listeningAt - killedAt,
          connected: connected - listeningAt,
          resumed: resumed - listeningAt,
          seen: seen - listeningAt,
        })
      }
      process.stderr.write(`${setting}, round ${round}: ${JSON.stringify(results.at(-1), rounded)}\n`)
      // Lets the process become idle before the next kill.
      await pause(1000)
    }
    return results
  } finally {
    for (const close of closing) await close()
    await stop(server)
    await cluster?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Updates one conversation at a steady rate until stopped. */
function keepWriting(databaseUrl: string): () => Promise<void> {
  const sql = postgres(databaseUrl, { max: 4, onnotice() {} })
  const thread = sql`select _id from chat_threads limit 1`
  const timer = setInterval(() => {
    void sql`update chat_threads set title = 'Streams ' || random() where _id in (${thread})`
  }, 1000 / WRITES_PER_SECOND)
  return async () => {
    clearInterval(timer)
    await sql.end()
  }
}

function startProcess(folder: string, databaseUrl: string | undefined): ChildProcess {
  return spawn(process.execPath, [builtServer(root)], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      NODE_ENV: "production",
      PORT: String(PORT),
      HOST: "127.0.0.1",
      TRUSTED_PROXIES: "1",
      DATA_DIR: join(folder, "data"),
      AUTH_SECRET: "a secret for measuring, and for nothing else",
      MAIL_INBOX_PORT: "0",
      LOG_LEVEL: process.env["LOG_LEVEL"] ?? "warn",
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    },
    stdio: ["ignore", "inherit", "inherit"],
  })
}

async function openAccount(): Promise<Person> {
  await listening(PORT)
  const person = await signUp(ORIGIN, 0)
  await fetch(`${ORIGIN}/onboarding`, { headers: { cookie: person.cookie } })
  return person
}

async function kill(server: ChildProcess): Promise<void> {
  server.kill("SIGKILL")
  await once(server, "exit")
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  server.kill("SIGTERM")
  await once(server, "exit")
}

/**
 * Milliseconds from when the process listens until every client shows what has been committed
 * since.
 */
const BAR = 3000

function report(measured: Record<Setting, Round[]>): void {
  const steps = ["connected", "resumed", "seen"] as const
  const pair = (rounds: readonly Round[], step: keyof Round) => {
    const values = rounds.map((round) => round[step])
    return `${show(median(values))} / ${show(Math.max(...values))}`
  }
  printTable(
    [
      "ms, median / worst",
      "kill to listening",
      "listening to connected",
      "to resumed",
      "to the first commit seen",
    ],
    SETTINGS.map((setting) => [
      setting,
      pair(measured[setting], "downFor"),
      ...steps.map((step) => pair(measured[setting], step)),
    ]),
  )
  const bars = SETTINGS.map((setting) =>
    describeBar(
      `worst return in ms, ${setting}`,
      Math.max(...measured[setting].map(({ seen }) => seen)),
      BAR,
    ),
  )
  process.stdout.write(`\n${bars.join("\n")}\n`)
}

/** The median and the slowest client of each round, in ms. */
function summariseRounds(measured: readonly Round[]) {
  return [...Map.groupBy(measured, ({ round }) => round).values()].map((clients) => {
    const seen = clients.map((client) => Math.round(client.seen))
    return {
      downFor: Math.round(clients[0]?.downFor ?? Number.NaN),
      median: median(seen),
      worst: Math.max(...seen),
    }
  })
}
