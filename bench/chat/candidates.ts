import { join, resolve } from "node:path"
import { builtServer } from "#server/commands/bundle.ts"
import { signUpAll, type Person } from "../accounts.ts"
import { listening } from "../listening.ts"
import type { MeterCommands } from "../meter.ts"
import { startProgram, type Program } from "../program.ts"
import type { Reader } from "./crowd.ts"
import { questionOf } from "./streams.ts"
import { startThread } from "./threads.ts"

export type Candidate = "raw" | "plain" | "tideline"

/** The candidates run one after the other, so they share a port. */
export const PORT = 3978

const root = resolve(import.meta.dirname, "../..")

export interface Running {
  meter: Program<MeterCommands>
  /**
   * Returns readers that send `turns` messages each. Each message uses the next stream number;
   * those of the first reader start at `stream`.
   */
  readers(count: number, turns: number, stream: number): Promise<Reader[]>
}

interface Setting {
  upstream: number
  databaseUrl: string
  /** The application's working directory. */
  folder: string
  /** The server of another build. */
  server?: string
}

/** Starts the candidate with the meter loaded into its process. */
export const CANDIDATES: Record<Candidate, (setting: Setting) => Promise<Running>> = {
  raw: (setting) => startSmall("raw.ts", setting, "/v1/chat/completions", askUpstream),
  plain: (setting) => startSmall("plain.ts", setting, "/api/chat", askPlainly),
  tideline: startTideline,
}

const JSON_HEADERS = { "content-type": "application/json" }

function askUpstream(stream: number) {
  return { model: "bench", stream: true, messages: [{ role: "user", content: questionOf(stream) }] }
}

function askPlainly(stream: number) {
  return {
    messages: [
      { id: `question-${stream}`, role: "user", parts: [{ type: "text", text: questionOf(stream) }] },
    ],
  }
}

async function startSmall(
  file: string,
  { upstream }: Setting,
  path: string,
  question: (stream: number) => object,
): Promise<Running> {
  const program = startProgram<MeterCommands>(
    join(import.meta.dirname, "candidates", file),
    [String(upstream), String(PORT)],
    { before: METER },
  )
  await listening(PORT)
  return {
    meter: program,
    readers: async (count, turns, stream) =>
      numbers(count, turns, stream).map((own) => ({
        path,
        headers: JSON_HEADERS,
        bodies: own.map((each) => JSON.stringify(question(each))),
        stream: own[0] ?? 0,
      })),
  }
}

/** Signed-in users send every message to a stored conversation. */
async function startTideline({
  upstream,
  databaseUrl,
  folder,
  server = builtServer(root),
}: Setting): Promise<Running> {
  const program = startProgram<MeterCommands>(server, [], {
    before: METER,
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      NODE_ENV: "production",
      PORT: String(PORT),
      HOST: "127.0.0.1",
      TRUSTED_PROXIES: "1",
      DATABASE_URL: databaseUrl,
      AUTH_SECRET: "a secret for measuring, and for nothing else",
      MAIL_INBOX_PORT: "0",
      AI_GATEWAY_API_KEY: "bench",
      AI_GATEWAY_BASE_URL: `http://127.0.0.1:${upstream}/v1`,
      CHAT_MODEL: "bench",
      CHAT_RATE_LIMIT: "100000",
      CHAT_TURNS_AT_ONCE: "20",
    },
  })
  await listening(PORT)
  const people = await signUpAll(ORIGIN)
  return {
    meter: program,
    readers: (count, turns, stream) =>
      Promise.all(
        numbers(count, turns, stream).map((own, index) =>
          openReader(people[index % people.length] as Person, own),
        ),
      ),
  }
}

const ORIGIN = `http://localhost:${PORT}`
const METER = join(import.meta.dirname, "../meter.ts")

async function openReader(person: Person, streams: number[]): Promise<Reader> {
  const threadId = await startThread(ORIGIN, person)
  return {
    path: "/api/chat",
    headers: { ...JSON_HEADERS, origin: ORIGIN, cookie: person.cookie, "x-forwarded-for": person.address },
    bodies: streams.map((stream) => JSON.stringify({ threadId, ...askPlainly(stream) })),
    stream: streams[0] ?? 0,
  }
}

function numbers(count: number, turns: number, first: number): number[][] {
  return Array.from({ length: count }, (_, reader) =>
    Array.from({ length: turns }, (_each, turn) => first + reader * turns + turn),
  )
}
