import type postgres from "postgres"
import { isLost as isLostError } from "./outage.ts"
import { openPostgres } from "./servers.ts"

/** A statement, created when it is its turn. */
export type Statement<Result> = (sql: postgres.Sql) => Promise<Result>

/** A connection, for one use at a time. */
export interface Connection {
  /**
   * Runs a statement after the previous ones. Fails once the connection is lost: it is not
   * replaced.
   */
  run<Result>(statement: Statement<Result>): Promise<Result>
  readonly isLost: boolean
}

export interface ConnectionPool {
  /** Waits for a free connection, which belongs to `work` until it is done. */
  use<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result>
  /**
   * The same for work that uses the client directly, so that statements share round trips. Rejects
   * if the connection is lost, and closes it after `CLIENT_TIMEOUT`. The work must leave no
   * transaction open.
   */
  useClient<Result>(work: (sql: postgres.Sql) => Promise<Result>): Promise<Result>
  /** Waits for running work, for at most five seconds. */
  close(): Promise<void>
}

/**
 * In ms. The server ends a statement after 30 s, so only a network that drops packets takes longer.
 */
const CLIENT_TIMEOUT = 40_000

/** Of each pool, this many stay open; the others close when they have not been used for so long (ms). */
const KEPT_OPEN = 2
const IDLE_TIMEOUT = 30_000

/**
 * A client for `openConnectionPool`: its one connection stays open until it is closed or lost, even
 * when idle.
 */
export function openOneConnection(
  url: string,
  { application, pooled = false, onclose }: { application: string; pooled?: boolean; onclose: () => void },
): postgres.Sql {
  return openPostgres(url, {
    max: 1,
    idle_timeout: 0,
    max_lifetime: null, // it may be in the middle of a transaction
    connect_timeout: 10, // seconds
    prepare: !pooled,
    onnotice: () => {}, // of releasing a lock that was lost, for example
    connection: { application_name: application },
    onclose,
  })
}

/**
 * At most `count` connections, each a client of its own that is discarded with its connection. The
 * pool of postgres 3.4.9 is not used: when a connection is lost in a transaction, it writes the
 * rollback into a closed socket, which ends the process; and a connection that is lost between a
 * statement and its write does not come back for minutes.
 */
export function openConnectionPool(
  count: number,
  openClient: (onclose: () => void) => postgres.Sql,
  { clientTimeout = CLIENT_TIMEOUT, idleTimeout = IDLE_TIMEOUT } = {},
): ConnectionPool {
  const open = new Set<OpenConnection>()
  /** The one that was used last is the last one, and the next to be used. */
  const free: OpenConnection[] = []
  const closingIdle = setInterval(closeIdle, idleTimeout / 2)
  closingIdle.unref()
  const waiting: (() => void)[] = []
  const inUse = new Set<Promise<unknown>>()
  let isClosing = false

  return {
    use,
    useClient: (work) => use((connection) => connection.runClient(work, clientTimeout)),
    async close() {
      isClosing = true
      clearInterval(closingIdle)
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
    connection.usedAt = performance.now()
    if (connection.isLost) discard(connection)
    else free.push(connection)
    waiting.shift()?.()
  }

  function closeIdle() {
    const since = performance.now() - idleTimeout
    while (free.length > KEPT_OPEN && free[0]!.usedAt < since) discard(free.shift()!)
  }

  function discard(connection: OpenConnection) {
    open.delete(connection)
    void connection.end()
  }
}

interface OpenConnection extends Connection {
  /** When its last use ended, by `performance.now()`. */
  usedAt: number
  /** Closes the connection if the work takes longer than `timeout` ms. */
  runClient<Result>(work: (sql: postgres.Sql) => Promise<Result>, timeout: number): Promise<Result>
  end(): Promise<void>
}

function openConnection(openClient: (onclose: () => void) => postgres.Sql): OpenConnection {
  let isLost = false
  let last: Promise<unknown> = Promise.resolve()
  let refuse: ((error: Error) => void) | undefined
  const client = openClient(() => {
    isLost = true
    // For statements written to a connection that then broke, the client reports nothing, not even
    // an error.
    refuse?.(lostConnection("CONNECTION_CLOSED", "The connection to the database was lost."))
  })

  return {
    usedAt: 0,
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
        if (isLostError(error)) isLost = true // the client reports it later, and would reconnect
        reject(error)
      })
    })
  }
}

function lostConnection(code: "CONNECTION_CLOSED" | "CONNECTION_ENDED", message: string) {
  return Object.assign(new Error(message), { code })
}
