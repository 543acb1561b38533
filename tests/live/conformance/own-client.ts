/**
 * The browser's client in Node, for the conformance kit. An argument names a fault to plant, for
 * the tests of the kit itself.
 */
import { createInterface } from "node:readline"
import { LiveClient } from "../../../live/browser/client.ts"
import type { Link, LinkEvent, LinkListener } from "../../../live/browser/link.ts"
import { Refused } from "../../../live/browser/mutations.ts"
import { createPages } from "../../../live/browser/pages.ts"
import { SocketLink } from "../../../live/browser/socket-link.ts"
import type {
  Change,
  LiveRow,
  Loaded,
  MutationType,
  RowOrder,
  SnapshotEvent,
} from "../../../live/protocol/contract.ts"

const origin = process.env["TIDELINE_URL"] ?? ""

interface Command {
  do: string
  name: string
  query: string
  mutation: string
  args: Record<string, unknown>
}

interface Follow {
  loaded: Loaded
  rows(): readonly LiveRow[]
  pages: ReturnType<typeof createPages> | null
  leave(): void
}

/** The state that a restart loses. */
interface Session {
  link: Link
  client: LiveClient
  follows: Map<string, Follow>
  /** From the last snapshot. A page of the application gets it from its loader. */
  order: RowOrder
}

let session: Session | null = null

function begin(): Session {
  const link = new (class extends SocketLink {
    override listen({ changed, received }: LinkListener): void {
      super.listen({
        changed,
        received(event) {
          const { subscriptions = [] } = event[1] as Partial<SnapshotEvent>
          for (const part of subscriptions) if (part.kind === "rows") begun.order = part.order
          received(withFault(event))
        },
      })
    }
  })({ origin, fetchToken })
  const begun: Session = { link, client: new LiveClient(link), follows: new Map(), order: [] }
  return begun
}

const fault = process.argv[2]

/** The event as a client with the planted fault would read it. */
function withFault([name, event]: LinkEvent): LinkEvent {
  if (fault === "no parts" && name === "snapshot") {
    const { more: _ignored, ...whole } = event
    return [name, whole]
  }
  if (fault === "no removal" && name === "commit")
    return [name, { ...event, changes: event.changes.filter(([, op]) => op !== "remove") }]
  if (fault === "merge as put" && name === "commit") {
    const changes = event.changes.map((each) => each.with(1, each[1] === "merge" ? "put" : each[1]) as Change)
    return [name, { ...event, changes }]
  }
  return [name, event] as LinkEvent
}

async function fetchToken() {
  const response = await fetch(new URL("/api/realtime/token", origin), {
    headers: { authorization: `Bearer ${process.env["TIDELINE_API_KEY"]}` },
  })
  if (response.status === 401) return null
  if (!response.ok) throw new Error(`The token request was answered with ${response.status}.`)
  const { token, expiresAt } = (await response.json()) as { token: string; expiresAt: number }
  return { token, lifetime: expiresAt - Date.now() }
}

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

const verbs: Record<string, (command: Command, session: Session) => void> = {
  follow({ name, query, args }, { client, follows }) {
    const loaded: Loaded = { query, args, rows: [], order: [], end: null }
    const { collection, release } = client.hold(loaded)
    follows.set(name, { loaded, rows: () => collection.rows(), pages: null, leave: release })
  },
  leave({ name }, { follows }) {
    follows.get(name)?.leave()
    follows.delete(name)
  },
  more({ name }, { client, follows, order }) {
    const follow = follows.get(name)
    if (!follow) return
    const { loaded, leave } = follow
    const pages = (follow.pages ??= createPages(client, { ...loaded, order }, (end) => ({
      ...(loaded.args as object),
      after: end,
    })))
    follow.rows = () => pages.shown().rows
    follow.leave = pages.watch(() => {})
    leave()
    pages.loadMore()
  },
  query({ name, query, args }, { link }) {
    void link.call("query", { query, args }).then(
      (answer) => print({ done: name, ...answer }),
      () => print({ done: name, error: { code: "lost" } }),
    )
  },
  mutate({ name, mutation, args }, { client }) {
    const named: MutationType<string, object> = { name: mutation }
    void client.mutate(named, args).then(
      (value) => print({ done: name, value }),
      (error: unknown) => print({ done: name, error: { code: error instanceof Refused ? error.code : "?" } }),
    )
  },
  state(_command, { client, follows }) {
    const rows = Object.fromEntries([...follows].map(([name, { rows: read }]) => [name, read()]))
    print({ state: { rows, status: client.freshness().state } })
  },
}

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const command = JSON.parse(line) as Command
    if (command.do === "restart") {
      for (const { leave } of session?.follows.values() ?? []) leave()
      session?.client.close()
      session = null
      return
    }
    if (session === null && command.do === "state")
      return print({ state: { rows: {}, status: "connecting" } })
    session ??= begin()
    verbs[command.do]?.(command, session)
  })
  .on("close", () => process.exit())
