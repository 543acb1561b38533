import { createHash, randomBytes } from "node:crypto"
import { execFile } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import postgres from "postgres"
import { findFreePort } from "../support/ports.ts"
import { openBrowser, postJson, signUp, type Person } from "../support/people.ts"
import { addSecondFactor, type Authenticator } from "../support/second-factor.ts"
import { spawnTideline } from "../support/spawn-tideline.ts"

const root = resolve(import.meta.dirname, "../..")

/** What people made, which every way back has to bring back. Volatile tables are left out. */
const TABLES = ["users", "files", "blobs", "chat_threads", "chat_messages", "waitlist"]

/** Milliseconds. */
const TIMEOUT = 60_000

/** Rows and bytes, as digests by their name. */
export type State = Record<string, string>

export type Installation = Awaited<ReturnType<typeof openInstallation>>

/**
 * A built Tideline with a folder, an embedded PostgreSQL and settings of its own, and somebody who
 * has a second factor, an API key, files and a conversation.
 */
export async function openInstallation() {
  const folder = mkdtempSync(join(tmpdir(), "tideline-drill-"))
  const [port, ops] = [await findFreePort(), await findFreePort()]
  const origin = `http://127.0.0.1:${port}`
  const settings = {
    PORT: String(port),
    OPS_PORT: String(ops),
    APP_URL: origin,
    DATABASE_URL: "",
    AUTH_SECRET: undefined,
  }
  let server: ReturnType<typeof spawnTideline> | null = null
  const installation = {
    folder,
    origin,
    dataDir: join(folder, ".data"),
    backups: join(folder, "backups"),
    /** Of the process that runs, or ran last. */
    log: () => server?.log ?? [],
    pid: () => server?.child.pid ?? 0,
    async start(extra: Record<string, string> = {}) {
      server = spawnTideline(folder, { ...settings, ...extra })
      await server.logged("Tideline is ready")
    },
    /** Starts it and resolves with its output, once it has refused to start. */
    async startInVain(extra: Record<string, string>): Promise<string> {
      const failing = spawnTideline(folder, { ...settings, ...extra })
      await failing.exited
      return failing.log.join("\n")
    },
    async end(signal: NodeJS.Signals) {
      server?.child.kill(signal)
      await server?.exited
    },
    /** An operator's command of the build, with the same settings. */
    command(name: string, ...words: string[]): Promise<{ code: number; output: string }> {
      const { AUTH_SECRET: _none, ...env } = settings
      return new Promise((done) => {
        const child = execFile(
          process.execPath,
          [join(root, `build/server/${name}.js`), ...words],
          { cwd: folder, env: { PATH: process.env["PATH"], NODE_ENV: "production", ...env } },
          (_error, out, errors) => done({ code: child.exitCode ?? -1, output: out + errors }),
        )
      })
    },
    /** The problems and warnings of the doctor about the given parts. */
    async doctor(...about: string[]): Promise<string[]> {
      const { output } = await installation.command("doctor")
      const lines = [...output.matchAll(/^(problem|warning) +(\w+) +(.*)$/gm)]
      return lines
        .filter(([, , part = ""]) => about.includes(part))
        .map(([, state, part, text]) => `doctor, ${state}: ${part}: ${text}`)
    },
    async readiness(): Promise<string> {
      const response = await fetch(`http://127.0.0.1:${ops}/readyz`).catch(() => null)
      if (!response) return "/readyz does not respond"
      const { checks } = (await response.json()) as { checks: Record<string, string> }
      const failing = Object.entries(checks).filter(([, state]) => state !== "ok")
      return `/readyz ${response.status}${failing.map(([name, state]) => `, ${name}: ${state}`).join("")}`
    },
    /** The value of a metric without labels, or null if it is missing. */
    async metric(name: string): Promise<number | null> {
      const response = await fetch(`http://127.0.0.1:${ops}/metrics`)
      const value = new RegExp(`^${name} (\\S+)$`, "m").exec(await response.text())?.[1]
      return value === undefined ? null : Number(value)
    },
    /** The messages of warnings and errors, each once. */
    warnings(): string[] {
      const entries = installation
        .log()
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line) as { level: number; msg: string })
      return [...new Set(entries.filter(({ level }) => level >= 40).map(({ msg }) => `log: ${msg}`))]
    },
    /** Resolves when the API answers again. */
    async whenServing() {
      await until(async () => {
        const response = await fetch(`${origin}/waitlist`).catch(() => null)
        return response?.status === 200 && (await installation.readiness()).startsWith("/readyz 200")
      })
    },
    databaseUrl(): string {
      const file = join(installation.dataDir, "postgres/owner.json")
      return (JSON.parse(readFileSync(file, "utf8")) as { url: string }).url
    },
    postmaster: () =>
      Number.parseInt(readFileSync(join(installation.dataDir, "postgres/data/postmaster.pid"), "utf8"), 10),
    async state({ key }: Pick<Resident, "key">): Promise<State> {
      const sql = postgres(installation.databaseUrl(), { max: 1, onnotice() {} })
      const state: State = {}
      try {
        for (const table of TABLES) {
          const [row] = await sql<[{ digest: string }]>`
            select count(*) || ' rows ' || coalesce(md5(string_agg(t::text, e'\n' order by t::text)), '') as digest
            from ${sql(table)} as t`
          state[table] = row.digest
        }
        for (const { _id: id } of await sql<{ _id: string }[]>`select _id from files`) {
          const response = await fetch(`${origin}/api/files/${id}`, {
            headers: { authorization: `Bearer ${key}` },
          })
          const hash = createHash("sha256").update(Buffer.from(await response.arrayBuffer()))
          state[`file ${id}`] = `${response.status} ${hash.digest("hex")}`
        }
      } finally {
        await sql.end()
      }
      return state
    },
    async close() {
      await installation.end("SIGTERM")
      if (existsSync(folder)) rmSync(folder, { recursive: true, force: true })
    },
  }
  return installation
}

/**
 * Runs `drill` in an installation of its own, with its inhabitant. What is thrown has the last lines
 * of the log.
 */
export async function inInstallation<Result>(
  drill: (installation: Installation, resident: Resident) => Promise<Result>,
): Promise<Result> {
  const installation = await openInstallation()
  try {
    await installation.start()
    return await drill(installation, await moveIn(installation))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`${reason}\n${installation.log().slice(-5).join("\n")}`, { cause: error })
  } finally {
    await installation.close()
  }
}

export interface Resident {
  person: Person
  phone: Authenticator
  /** An API key. */
  key: string
  /** Their file ids. */
  files: string[]
}

export async function moveIn(installation: Installation): Promise<Resident> {
  const person = await signUp(installation, { name: "Ada Lovelace", email: "ada@example.org" })
  const phone = await addSecondFactor(person, person.password)
  const files: string[] = []
  for (const name of ["tides.bin", "charts.bin", "log.bin"]) files.push(await store(person, name))
  const made = await postJson(person, "/api/chat/threads", { title: "High water" })
  const { thread } = (await made.json()) as { thread: { _id: string } }
  const messages = [{ id: "q1", role: "user", parts: [{ type: "text", text: "When is high water?" }] }]
  const reply = await (await postJson(person, "/api/chat", { threadId: thread._id, messages })).text()
  if (!reply.includes("text-delta")) throw new Error(`The chat replied ${reply.slice(0, 200)}`)
  return { person, phone, key: await person.apiKey(), files }
}

export async function store(person: Person, name: string, size = 200_000): Promise<string> {
  const stored = await person(`/api/files?name=${name}`, { method: "POST", body: randomBytes(size) })
  if (stored.status !== 201) throw new Error(`${name} was refused: ${await describe(stored)}`)
  const { files } = (await stored.json()) as { files: { _id: string }[] }
  return files[0]?._id ?? ""
}

/** Signs in by password and by the code of the phone; resolves with what came last. */
export async function signInAgain(
  installation: Installation,
  { person, phone }: Resident,
): Promise<Response> {
  const browser = openBrowser(installation)
  const { email, password } = person
  const first = await postJson(browser, "/api/auth/sign-in/email", { email, password })
  if (!first.ok) return first
  return postJson(browser, "/api/auth/two-factor/verify-totp", { code: phone.code() })
}

/** The status, and the sentence that a person reads. */
export async function describe(response: Response): Promise<string> {
  const text = await response.text()
  if (response.headers.get("content-type")?.includes("json")) {
    const { error, message } = JSON.parse(text) as { error?: string; message?: string }
    return `${response.status} "${error ?? message ?? ""}"`
  }
  const [, title = ""] = /<h1[^>]*>([^<]*)/.exec(text) ?? []
  const [, sentence = ""] = /<p[^>]*>([^<]*)/.exec(text) ?? []
  return `${response.status} "${[title, sentence].filter(Boolean).join(": ")}"`
}

/** The names of what differs. */
export function differences(before: State, after: State): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].filter((name) => before[name] !== after[name])
}

export async function until(holds: () => Promise<boolean>) {
  const deadline = Date.now() + TIMEOUT
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`This took longer than ${TIMEOUT / 1000} s.`)
    await pause(100)
  }
}
