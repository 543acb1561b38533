import type { SubscribeItem } from "../protocol/contract.ts"
import type { ClientProcess, Outcome } from "./client-process.ts"
import { MUTATION, QUERY } from "./document.ts"
import { Unmet } from "./queue.ts"
import { mustEqual, type Connection, type ScriptedServer, type SnapshotOptions } from "./scripted-server.ts"

/** The client's commands and the server's script, for one situation. */
export interface Stage {
  readonly server: ScriptedServer
  follow(name: string, args?: object): void
  leave(name: string): void
  more(name: string): void
  query(args?: object): Promise<Outcome>
  mutate(name: string, args?: object): void
  outcome(name: string): Promise<Outcome>
  /** The client's next connection. */
  connected(): Promise<Connection>
  /** The items of the connection's next subscription messages, at least this many. */
  subscribed(connection: Connection, count?: number): Promise<SubscribeItem[]>
  /** Follows `a` on a new connection and shows these rows. */
  begin(rows: object[], how?: SnapshotOptions): Promise<{ connection: Connection; id: number }>
  /** Checks the rows by their ids, in order, after everything that was sent has been handled. */
  shows(connection: Connection, ids: string[], name?: string): Promise<void>
  /** The same while there is no connection. */
  keeps(ids: string[], name?: string): Promise<void>
  /** Waits until the rows are these. */
  comesToShow(ids: string[], name?: string): Promise<void>
  rowsOf(name?: string): Promise<Record<string, unknown>[]>
  /** Waits until the client says this of its connection. */
  becomes(status: string): Promise<void>
}

/** Number of attempts to see an unannounced state, and the milliseconds between them. */
const ATTEMPTS = 200
const PAUSE = 25

export function setStage(server: ScriptedServer, client: ClientProcess): Stage {
  let asked = 0
  const stage: Stage = {
    server,
    follow: (name, args = {}) => client.tell({ do: "follow", name, query: QUERY, args }),
    leave: (name) => client.tell({ do: "leave", name }),
    more: (name) => client.tell({ do: "more", name }),
    query(args = {}) {
      const name = `query ${(asked += 1)}`
      client.tell({ do: "query", name, query: QUERY, args })
      return client.outcome(name)
    },
    mutate: (name, args = {}) => client.tell({ do: "mutate", name, mutation: MUTATION, args }),
    outcome: (name) => client.outcome(name),
    connected: () => server.connections.take("connect"),
    async subscribed(connection, count = 1) {
      const items: SubscribeItem[] = []
      while (items.length < count) items.push(...(await connection.subscriptions.take("subscribe")))
      return items
    },
    async begin(rows, how) {
      stage.follow("a")
      const connection = await stage.connected()
      const [item] = await stage.subscribed(connection)
      if (!item) throw new Unmet("The client subscribed to nothing.")
      connection.rows(item.id, rows, how)
      return { connection, id: item.id }
    },
    async shows(connection, ids, name = "a") {
      // The reply to a query follows all events on the same socket.
      const before = stage.query()
      await connection.queries.take("send the query")
      await before
      await stage.keeps(ids, name)
    },
    async keeps(ids, name = "a") {
      const rows = await stage.rowsOf(name)
      mustEqual(
        rows.map(({ _id }) => _id),
        ids,
        `The rows of ${name}`,
      )
    },
    async comesToShow(ids, name = "a") {
      await eventually(() => stage.keeps(ids, name))
    },
    async rowsOf(name = "a") {
      const { rows } = await client.state()
      return rows[name] ?? []
    },
    async becomes(status) {
      await eventually(async () => mustEqual((await client.state()).status, status, "The status"))
    },
  }
  return stage
}

async function eventually(check: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await check()
      return
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
      await new Promise((resolve) => setTimeout(resolve, PAUSE))
    }
  }
}
