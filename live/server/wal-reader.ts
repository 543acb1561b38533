import { createFailureLog } from "./failure-log.ts"
import type { Anchor } from "./anchor.ts"
import { openStart, type Place } from "./begin-stream.ts"
import type { Lineage } from "./lineage.ts"
import type { Log } from "./log.ts"
import { lsnToSql } from "./lsn.ts"
import type { Metrics } from "./metrics.ts"
import { createDecoder, type Describing } from "./pgoutput.ts"
import type { Node } from "./node.ts"
import type { Nodes } from "./nodes.ts"
import type { ReplicationConnection, Stream } from "./replication.ts"
import type { createAssembler, Transaction } from "./transactions.ts"
import type { RefusalText } from "../protocol/contract.ts"
import { findTrouble } from "./trouble.ts"

/** The receiver of the log. */
export interface Sink extends Place {
  /** The log goes on from its position, after a failover in another timeline. */
  proceed(lineage: Lineage): void
  /**
   * There is a gap before `start`, or this is the first start: everything after it will be
   * delivered. What was written before now is before `reach`.
   */
  restart(start: bigint, lineage: Lineage, reach: bigint): void
  transaction(transaction: Transaction): void
  advance(lsn: bigint): void
}

export interface ReaderOptions {
  readonly databaseUrl: string
  readonly nodes: Pick<Nodes, "inOrder" | "use">
  readonly anchor: Anchor
  /** The slot that a stream begins with does not exist, or PostgreSQL has invalidated it. */
  readonly withoutAnchor: (node: Node) => Promise<void>
  readonly sink: Sink
  readonly assembler: ReturnType<typeof createAssembler>
  readonly describing: Describing
  /**
   * Called when the log before this position is of no use to anybody, because there is too much of
   * it to read.
   */
  readonly skipped: (start: bigint) => void
  /** Called before each start: the stream's short transaction ids are widened with a full one. */
  readonly sawXid: (xid: bigint) => void
  readonly log: Log
  readonly metrics: Metrics
  /** A first start reads back at most this many bytes. */
  readonly replayBytes: bigint
  /** The longest time between two requested keepalives. ms. */
  readonly reportMs: number
}

export interface Reader {
  /** Milliseconds since the last message from PostgreSQL; 0 while the stream is healthy. */
  lag(): number
  /**
   * The problem that the operator has to fix before the stream can begin; null if none is known.
   */
  trouble(): RefusalText | null
  pause(): void
  resume(): void
  /** Ends the stream, and goes on from its position at the server that is the best one now. */
  again(): void
  stop(): Promise<void>
}

/** Before the stream has begun, no watchdog waits for keepalives. */
const STARTING_MS = 30_000
/** The same for each server while there are others to try. */
const CONNECTING_MS = 2000

const NO_ANCHOR = "The anchor slot cannot be created. Long open transactions delay it."

/** No such slot, or one that PostgreSQL has invalidated. */
function isWithoutAnchor(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "42704" || error.code === "55000")
}

/**
 * Reads the log for as long as the process lives, and recovers automatically whenever the stream is
 * lost.
 */
export function startReader(options: ReaderOptions): Reader {
  const { sink, assembler, log, metrics } = options
  let stopping = false
  let stream: Stream | null = null
  let connection: ReplicationConnection | null = null
  let paused = false
  let receivedAt = performance.now()
  let reportMs = options.reportMs
  let streamingSince: number | null = null
  let lostAt: number | null = null
  let readFrom: string | null = null
  let wake: (() => void) | null = null
  let trouble: RefusalText | null = null
  const failureLog = createFailureLog(log, "The replication stream is back.")
  const finished = run()

  return {
    lag() {
      const silence = performance.now() - receivedAt
      return stream && silence < 2 * reportMs ? 0 : Math.round(silence)
    },
    trouble: () => trouble,
    pause() {
      paused = true
      stream?.pause()
    },
    resume() {
      paused = false
      receivedAt = performance.now()
      stream?.resume()
    },
    again() {
      void connection?.end()
    },
    async stop() {
      stopping = true
      wake?.()
      await connection?.end()
      await finished
    },
  }

  async function run(): Promise<void> {
    let failures = 0
    while (!stopping) {
      streamingSince = null
      try {
        await session()
        if (!stopping) reportFailure(null, "The replication stream ended. Reconnecting.")
      } catch (error) {
        if (stopping) break
        await repair(error)
      }
      if (stopping) break
      metrics.count("stream_reconnects")
      if (streamingSince !== null && performance.now() - streamingSince > 50) failures = 0
      await rest(Math.min(longestRest(), 10 * 2 ** failures++) * (0.5 + Math.random()))
    }
  }

  /** With several servers, one of them is soon the primary. */
  function longestRest(): number {
    return options.nodes.inOrder().length > 1 ? 250 : 2000
  }

  async function session(): Promise<void> {
    assembler.reset()
    try {
      const opened = await openBest()
      const { node, slot, lineage } = opened
      connection = opened.connection
      options.sawXid(opened.xid)
      const startTimer = setTimeout(() => void opened.connection.end(), STARTING_MS)
      try {
        const senderTimeoutMs = await connection.senderTimeout()
        const start = placeToStart(opened)
        options.nodes.use(node, lineage)
        readFrom = opened.incarnation
        const decode = createDecoder(options.describing)
        receivedAt = performance.now()
        stream = await connection.start(slot, options.anchor.publication, start, {
          message(bytes) {
            receivedAt = performance.now()
            const message = decode(bytes)
            const transaction = message && assembler.take(message, bytes.length)
            if (transaction) sink.transaction(transaction)
          },
          keepalive(end) {
            receivedAt = performance.now()
            if (assembler.idle()) sink.advance(end)
          },
        })
        reportMs = Math.min(options.reportMs, senderTimeoutMs > 0 ? senderTimeoutMs / 4 : options.reportMs)
        stream.report(start)
      } finally {
        clearTimeout(startTimer)
      }
      if (paused) stream.pause()
      streamingSince = performance.now()
      lostAt = null
      trouble = null
      await watch(stream)
    } finally {
      stream = null
      lostAt ??= performance.now()
      await connection?.end()
      connection = null
    }
  }

  async function openBest() {
    const nodes = options.nodes.inOrder()
    return openStart({
      nodes,
      anchor: options.anchor,
      place: sink,
      readFrom,
      lostMs: lostAt === null ? 0 : performance.now() - lostAt,
      connectMs: nodes.length > 1 ? CONNECTING_MS : STARTING_MS,
      trying: (tried) => (connection = tried),
      failed(node, error) {
        if (nodes.length === 1 || !isWithoutAnchor(error)) return
        // The others can be read in the meantime.
        options.withoutAnchor(node).catch((cause: unknown) => reportFailure(cause, NO_ANCHOR))
      },
    })
  }

  function placeToStart({ continues, copied, reach, lineage }: Awaited<ReturnType<typeof openBest>>): bigint {
    const position = sink.position()
    if (continues && position !== null) {
      sink.proceed(lineage)
      return position
    }
    const earliest = reach - options.replayBytes
    const start = copied > earliest ? copied : earliest
    if (start > copied) options.skipped(start)
    if (position !== null) {
      metrics.count("stream_gaps")
      log.error(
        { position: lsnToSql(position), start: lsnToSql(start), reach: lsnToSql(reach) },
        "the log no longer contains this process's position; its clients read everything again",
      )
    }
    sink.restart(start, lineage, reach)
    return start
  }

  /** Resolves when the stream is over, even if no error or end is reported. */
  async function watch(current: Stream): Promise<void> {
    let tickedAt = performance.now()
    let timer: NodeJS.Timeout | undefined
    const silent = new Promise<void>((resolve) => {
      timer = setInterval(() => {
        const now = performance.now()
        // A late tick means that this process was stopped or busy; what has arrived in the meantime
        // is read first.
        const punctual = now - tickedAt < 2 * reportMs
        tickedAt = now
        current.report(sink.position() ?? 0n)
        failureLog.succeeded() // with a delay: a stream that breaks every second would be back every second
        if (!punctual || paused) receivedAt = now
        else if (now - receivedAt > 3 * reportMs) resolve()
      }, reportMs)
    })
    try {
      await Promise.race([current.closed, silent])
    } finally {
      clearInterval(timer)
    }
  }

  async function repair(error: unknown): Promise<void> {
    const [node, ...others] = options.nodes.inOrder()
    if (!node || others.length > 0 || !isWithoutAnchor(error))
      return reportFailure(error, "The replication stream failed. Reconnecting.")
    await options.withoutAnchor(node).catch((cause: unknown) => reportFailure(cause, NO_ANCHOR))
  }

  function reportFailure(error: unknown, message: string): void {
    trouble = findTrouble(error, options.databaseUrl)
    failureLog.failed("warn", error, trouble?.message ?? message, { position: positionText() })
  }

  function positionText(): string | null {
    const position = sink.position()
    return position === null ? null : lsnToSql(position)
  }

  function rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
