import postgres from "postgres"
import { isLost as isLostError } from "./outage.ts"

/** A statement, made when it is its turn. */
export type Statement<Result> = (sql: postgres.Sql) => Promise<Result>

/** A connection, for one use at a time. */
export interface Connection {
  /**
   * Runs a statement after those before it. Once the connection is lost, it is refused: there is no
   * other in its place.
   */
  run<Result>(statement: Statement<Result>): Promise<Result>
  readonly isLost: boolean
}

export interface ConnectionPool {
  /** Waits for a free connection. It belongs to the work until the work is over. */
  use<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result>
  /**
   * The same for work that talks to the client itself, so that statements share round trips.
   * Rejects when the connection is lost, or closes it after `CLIENT_TIMEOUT`. The work must leave
   * no transaction open.
   */
  useClient<Result>(work: (sql: postgres.Sql) => Promise<Result>): Promise<Result>
  /** Lets what runs finish, for at most five seconds. */
  close(): Promise<void>
}

/**
 * In ms. The server ends a statement after 30 s, so only a network that swallows what is sent takes
 * longer.
 */
const CLIENT_TIMEOUT = 40_000

/**
 * A client for `openConnectionPool`: its one connection stays open until it is closed or lost, also
 * while nothing is asked of it.
 */
export function openOneConnection(
  url: string,
  { application, pooled = false, onclose }: { application: string; pooled?: boolean; onclose: () => void },
): postgres.Sql {
  return postgres(url, {
    max: 1,
    idle_timeout: 0,
    max_lifetime: null, // it may be in the middle of a transaction
    connect_timeout: 10, // seconds
    prepare: !pooled,
    fetch_types: false, // its failure on an early connection loss reaches no caller and ends the process
    onnotice: () => {}, // of a release of a lock that was lost, for one
    connection: { application_name: application },
    onclose,
  })
}

/**
 * At most `count` connections, each a client of its own that is thrown away with its connection.
 * Not the pool of postgres 3.4.9: when a connection is lost in a transaction, that one writes the
 * rollback into a socket that is gone, which ends the process; and a connection that is lost
 * between a statement and its write does not come back for minutes.
 */
export function openConnectionPool(
  count: number,
  openClient: (onclose: () => void) => postgres.Sql,
  clientTimeout = CLIENT_TIMEOUT,
): ConnectionPool {
  const open = new Set<OpenConnection>()
  const free: OpenConnection[] = []
  const waiting: (() => void)[] = []
  const inUse = new Set<Promise<unknown>>()
  let isClosing = false

  return {
    use,
    useClient: (work) => use((connection) => connection.runClient(work, clientTimeout)),
    async close() {
      isClosing = true
      let timer: NodeJS.Timeout | undefined
      const timeout = new Promise((resolve) => (timer = setTimeout(resolve, 5000)))
      await Promise.race([Promise.allSettled(inUse), timeout])
      clearTimeout(timer)
      await Promise.all([...open].map((connection) => connection.end()))
    },
  }

  async function use<Result>(work: (connection: OpenConnection) => Promise<Result>): Promise<Result> {
    if (isClosing) throw lostConnection("CONNECTION_ENDED", "The connections to the database are closed.")
    const using = takeAndGiveBack(work)
    inUse.add(using)
    try {
      return await using
    } finally {
      inUse.delete(using)
    }
  }

  async function takeAndGiveBack<Result>(work: (connection: OpenConnection) => Promise<Result>) {
    const connection = await take()
    try {
      return await work(connection)
    } finally {
      giveBack(connection)
    }
  }

  async function take(): Promise<OpenConnection> {
    for (;;) {
      const connection = free.pop()
      if (connection && !connection.isLost) return connection
      if (connection) discard(connection)
      else if (open.size >= count) await new Promise<void>((resolve) => waiting.push(resolve))
      else {
        const fresh = openConnection(openClient)
        open.add(fresh)
        return fresh
      }
    }
  }

  function giveBack(connection: OpenConnection) {
    if (connection.isLost) discard(connection)
    else free.push(connection)
    waiting.shift()?.()
  }

  function discard(connection: OpenConnection) {
    open.delete(connection)
    void connection.end()
  }
}

interface OpenConnection extends Connection {
  /** Closes the connection when the work takes longer than `timeout` ms. */
  runClient<Result>(work: (sql: postgres.Sql) => Promise<Result>, timeout: number): Promise<Result>
  end(): Promise<void>
}

function openConnection(openClient: (onclose: () => void) => postgres.Sql): OpenConnection {
  let isLost = false
  let last: Promise<unknown> = Promise.resolve()
  let refuse: ((error: Error) => void) | undefined
  const client = openClient(() => {
    isLost = true
    // What was written to a connection that then broke gets no answer from the client, not even an
    // error.
    refuse?.(lostConnection("CONNECTION_CLOSED", "The connection to the database was lost."))
  })

  return {
    get isLost() {
      return isLost
    },
    run(statement) {
      const result = last.then(() => send(statement))
      last = result.catch(() => {})
      return result
    },
    async runClient(work, timeout) {
      const timer = setTimeout(() => void end(), timeout)
      try {
        return await send(work)
      } finally {
        clearTimeout(timer)
      }
    },
    end,
  }

  async function end() {
    isLost = true
    await client.end({ timeout: 0 }).catch(() => {})
  }

  function send<Result>(statement: Statement<Result>) {
    return new Promise<Result>((resolve, reject) => {
      if (isLost) throw lostConnection("CONNECTION_CLOSED", "The connection to the database was lost.")
      refuse = reject
      statement(client).then(resolve, (error: unknown) => {
        if (isLostError(error)) isLost = true // the client says so later, and would connect again
        reject(error)
      })
    })
  }
}

function lostConnection(code: "CONNECTION_CLOSED" | "CONNECTION_ENDED", message: string) {
  return Object.assign(new Error(message), { code })
}
