/**
 * Follows one live query from the terminal, over nothing but docs/realtime-protocol.md, or lists
 * what the server's /api/realtime.json describes.
 *
 *     npm run live -- --list
 *     npm run live -- users.getOnboardingStatus '{}'
 *
 * The account is named by TIDELINE_API_KEY, or by TIDELINE_TOKEN (a realtime token as GET
 * /api/realtime/token answers it); the server by TIDELINE_URL, http://localhost:3000 unless set.
 */
import { io } from "socket.io-client"

const [query, args = "{}"] = process.argv.slice(2)
const origin = process.env["TIDELINE_URL"] ?? "http://localhost:3000"

try {
  if (!query)
    throw new Error(
      `Name a live query: npm run live -- users.getOnboardingStatus '{}'\nnpm run live -- --list prints them.`,
    )
  if (query === "--list") await list()
  else follow(query, parseArguments(args))
} catch (error) {
  fail(error)
}

async function list() {
  const address = new URL("/api/realtime.json", origin)
  const response = await fetch(address).catch((error: unknown) => {
    throw new Error(`${origin} can't be reached. Set TIDELINE_URL to the server's URL.`, { cause: error })
  })
  if (!response.ok) throw new Error(`${address.href} returned ${response.status}.`)
  const document = (await response.json()) as RealtimeDocument
  const { schemas } = document.components
  for (const [title, functions, schema] of [
    ["Queries", document["x-queries"], "arguments"],
    ["Mutations", document["x-mutations"], "arguments"],
    ["Channels", document["x-channels"], "message"],
  ] as const) {
    process.stdout.write(`${title}\n\n`)
    for (const { name, description } of functions) {
      const { properties = {}, required = [] } = schemas[`${name}.${schema}`] ?? {}
      const fields = Object.keys(properties).map((field) => (required.includes(field) ? field : `${field}?`))
      const shown = fields.length > 0 ? `{ ${fields.join(", ")} }` : "{}"
      process.stdout.write(`  ${name} ${shown}\n    ${description}\n\n`)
    }
  }
}

/** The parts of /api/realtime.json that are listed. */
interface RealtimeDocument {
  components: { schemas: Record<string, { properties?: object; required?: string[] }> }
  "x-queries": { name: string; description: string }[]
  "x-mutations": { name: string; description: string }[]
  "x-channels": { name: string; description: string }[]
}

function follow(name: string, parsed: unknown) {
  const socket = io(origin, {
    path: "/realtime",
    transports: ["websocket"],
    autoConnect: false,
    reconnection: false,
  })
  let sequence = 0
  let have: { token: string; lsn?: string } | undefined
  let attempt = 0
  let leaveAlone = 0
  let renewal: NodeJS.Timeout | undefined

  async function connect() {
    try {
      const { token, expiresAt } = await fetchToken()
      socket.auth = { version: 1, token, client: "npm run live" }
      socket.connect()
      renewBefore(expiresAt)
    } catch (error) {
      // If the first request fails, something is misconfigured; later, the server is restarting.
      if (attempt === 0 && have === undefined) fail(error)
      retry()
    }
  }

  function retry(wait = 0) {
    attempt += 1
    const jitter = Math.random() * Math.min(10_000, 250 * 2 ** attempt)
    setTimeout(() => void connect(), wait + jitter)
  }

  /** The subscription stays when the token is replaced. */
  function renewBefore(expiresAt: number) {
    clearTimeout(renewal)
    if (process.env["TIDELINE_TOKEN"]) return
    renewal = setTimeout(() => void renew(), Math.max(1000, (expiresAt - Date.now()) / 2))
  }

  async function renew() {
    if (!socket.connected) return
    try {
      const { token, expiresAt } = await fetchToken()
      const { error } = (await socket.timeout(10_000).emitWithAck("authenticate", { token })) as Answer
      if (error) throw new Error(error.message)
      renewBefore(expiresAt)
    } catch {
      socket.disconnect()
    }
  }

  socket.on("connect", () => {
    attempt = 0
    sequence = 0
    leaveAlone = 0
    const subscription = { id: 1, query: name, args: parsed, have }
    socket.emit(
      "subscribe",
      { subscriptions: [subscription] },
      ({ refused = [], error }: SubscribeAnswer) => {
        for (const problem of error ? [error] : refused.map((item) => item.error)) {
          fail(`${problem.code}: ${problem.message}`)
        }
      },
    )
  })
  socket.on("connect_error", (error: Error & { data?: Problem }) => {
    if (error.data && !error.data.retryAfter) fail(`${error.data.code}: ${error.data.message}`)
    retry(error.data?.retryAfter)
  })
  socket.on("disconnect", (reason) => {
    clearTimeout(renewal)
    print("disconnected", { reason })
    retry(leaveAlone)
  })
  socket.onAny((kind: string, event: ServerEvent) => {
    if (event.sequence !== sequence + 1) return void socket.disconnect()
    sequence = event.sequence
    // The rows of a snapshot take effect with its last part.
    if (!event.more) {
      for (const part of event.subscriptions ?? []) have = { token: part.token }
      const lsn = event.position?.lsn ?? event.lsn
      if (have && lsn) have = { ...have, lsn }
    }
    socket.emit("acknowledge", { sequence })
    print(kind, event)
    if (kind === "goodbye") leaveAlone = event.retryAfter ?? 0
    if (kind !== "reset") return
    have = undefined
    socket.disconnect()
  })
  void connect()
}

interface Answer {
  error?: Problem
}

interface SubscribeAnswer extends Answer {
  refused?: { error: Problem }[]
}

interface Problem {
  code: string
  message: string
  retryAfter?: number
}

interface ServerEvent {
  sequence: number
  lsn?: string
  position?: { lsn: string }
  /** More parts of this snapshot follow. */
  more?: boolean
  subscriptions?: { token: string }[]
  /** Milliseconds. */
  retryAfter?: number
}

interface Token {
  token: string
  /** Milliseconds since the epoch. */
  expiresAt: number
}

async function fetchToken(): Promise<Token> {
  const given = process.env["TIDELINE_TOKEN"]
  if (given) return { token: given, expiresAt: Infinity }
  const key = process.env["TIDELINE_API_KEY"]
  if (!key)
    throw new Error(
      "Set TIDELINE_API_KEY to an API key of your account, or TIDELINE_TOKEN to a realtime token.",
    )
  const response = await fetch(new URL("/api/realtime/token", origin), {
    headers: { authorization: `Bearer ${key}` },
  })
  if (!response.ok)
    throw new Error(`${origin} gave no realtime token: ${response.status} ${await response.text()}`)
  return (await response.json()) as Token
}

function parseArguments(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`The arguments are not JSON: ${text}`)
  }
}

function print(name: string, event: object) {
  process.stdout.write(`${name} ${JSON.stringify(event)}\n`)
}

function fail(problem: unknown): never {
  process.stderr.write(`${problem instanceof Error ? problem.message : String(problem)}\n`)
  process.exit(1)
}
