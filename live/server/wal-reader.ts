import { createFailureLog, type FailureLog } from "./failure-log.ts"
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
import type { Assembler, Transaction } from "./transactions.ts"
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
  readonly assembler: Assembler
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
export class Reader {
  readonly #options: ReaderOptions
  readonly #sink: Sink
  readonly #assembler: Assembler
  #stopping = false
  #stream: Stream | null = null
  #connection: ReplicationConnection | null = null
  #paused = false
  #receivedAt = performance.now()
  #reportMs: number
  #streamingSince: number | null = null
  #lostAt: number | null = null
  #readFrom: string | null = null
  #wake: (() => void) | null = null
  #trouble: RefusalText | null = null
  readonly #failureLog: FailureLog
  #finished: Promise<void> = Promise.resolve()

  constructor(options: ReaderOptions) {
    this.#options = options
    this.#sink = options.sink
    this.#assembler = options.assembler
    this.#reportMs = options.reportMs
    this.#failureLog = createFailureLog(options.log, "The replication stream is back.")
  }

  start(): void {
    this.#finished = this.#run()
  }

  /** Milliseconds since the last message from PostgreSQL; 0 while the stream is healthy. */
  lag(): number {
    const silence = performance.now() - this.#receivedAt
    return this.#stream && silence < 2 * this.#reportMs ? 0 : Math.round(silence)
  }

  /**
   * The problem that the operator has to fix before the stream can begin; null if none is known.
   */
  trouble(): RefusalText | null {
    return this.#trouble
  }

  pause(): void {
    this.#paused = true
    this.#stream?.pause()
  }

  resume(): void {
    this.#paused = false
    this.#receivedAt = performance.now()
    this.#stream?.resume()
  }

  /** Ends the stream, and goes on from its position at the server that is the best one now. */
  again(): void {
    void this.#connection?.end()
  }

  async stop(): Promise<void> {
    this.#stopping = true
    this.#wake?.()
    await this.#connection?.end()
    await this.#finished
  }

  async #run(): Promise<void> {
    let failures = 0
    while (!this.#stopping) {
      this.#streamingSince = null
      try {
        await this.#session()
        if (!this.#stopping) this.#reportFailure(null, "The replication stream ended. Reconnecting.")
      } catch (error) {
        if (this.#stopping) break
        await this.#repair(error)
      }
      if (this.#stopping) break
      this.#options.metrics.count("stream_reconnects")
      if (this.#streamingSince !== null && performance.now() - this.#streamingSince > 50) failures = 0
      await this.#rest(Math.min(this.#longestRest(), 10 * 2 ** failures++) * (0.5 + Math.random()))
    }
  }

  /** With several servers, one of them is soon the primary. */
  #longestRest(): number {
    return this.#options.nodes.inOrder().length > 1 ? 250 : 2000
  }

  async #session(): Promise<void> {
    this.#assembler.reset()
    try {
      const opened = await this.#openBest()
      const { node, slot, lineage } = opened
      this.#connection = opened.connection
      this.#options.sawXid(opened.xid)
      const startTimer = setTimeout(() => void opened.connection.end(), STARTING_MS)
      try {
        const senderTimeoutMs = await this.#connection.senderTimeout()
        const start = this.#placeToStart(opened)
        this.#options.nodes.use(node, lineage)
        this.#readFrom = opened.incarnation
        const decode = createDecoder(this.#options.describing)
        this.#receivedAt = performance.now()
        this.#stream = await this.#connection.start(slot, this.#options.anchor.publication, start, {
          message: (bytes) => {
            this.#receivedAt = performance.now()
            const message = decode(bytes)
            const transaction = message && this.#assembler.take(message, bytes.length)
            if (transaction) this.#sink.transaction(transaction)
          },
          keepalive: (end) => {
            this.#receivedAt = performance.now()
            if (this.#assembler.idle()) this.#sink.advance(end)
          },
        })
        this.#reportMs = Math.min(
          this.#options.reportMs,
          senderTimeoutMs > 0 ? senderTimeoutMs / 4 : this.#options.reportMs,
        )
        this.#stream.report(start)
      } finally {
        clearTimeout(startTimer)
      }
      if (this.#paused) this.#stream.pause()
      this.#streamingSince = performance.now()
      this.#lostAt = null
      this.#trouble = null
      await this.#watch(this.#stream)
    } finally {
      this.#stream = null
      this.#lostAt ??= performance.now()
      await this.#connection?.end()
      this.#connection = null
    }
  }

  async #openBest() {
    const nodes = this.#options.nodes.inOrder()
    return openStart({
      nodes,
      anchor: this.#options.anchor,
      place: this.#sink,
      readFrom: this.#readFrom,
      lostMs: this.#lostAt === null ? 0 : performance.now() - this.#lostAt,
      connectMs: nodes.length > 1 ? CONNECTING_MS : STARTING_MS,
      trying: (tried) => (this.#connection = tried),
      failed: (node, error) => {
        if (nodes.length === 1 || !isWithoutAnchor(error)) return
        // The others can be read in the meantime.
        this.#options.withoutAnchor(node).catch((cause: unknown) => this.#reportFailure(cause, NO_ANCHOR))
      },
    })
  }

  #placeToStart({ continues, copied, reach, lineage }: Awaited<ReturnType<typeof openStart>>): bigint {
    const position = this.#sink.position()
    if (continues && position !== null) {
      this.#sink.proceed(lineage)
      return position
    }
    const earliest = reach - this.#options.replayBytes
    const start = copied > earliest ? copied : earliest
    if (start > copied) this.#options.skipped(start)
    if (position !== null) {
      this.#options.metrics.count("stream_gaps")
      this.#options.log.error(
        { position: lsnToSql(position), start: lsnToSql(start), reach: lsnToSql(reach) },
        "the log no longer contains this process's position; its clients read everything again",
      )
    }
    this.#sink.restart(start, lineage, reach)
    return start
  }

  /** Resolves when the stream is over, even if no error or end is reported. */
  async #watch(current: Stream): Promise<void> {
    let tickedAt = performance.now()
    let timer: NodeJS.Timeout | undefined
    const silent = new Promise<void>((resolve) => {
      timer = setInterval(() => {
        const now = performance.now()
        // A late tick means that this process was stopped or busy; what has arrived in the meantime
        // is read first.
        const punctual = now - tickedAt < 2 * this.#reportMs
        tickedAt = now
        current.report(this.#sink.position() ?? 0n)
        this.#failureLog.succeeded() // with a delay: a stream that breaks every second would be back every second
        if (!punctual || this.#paused) this.#receivedAt = now
        else if (now - this.#receivedAt > 3 * this.#reportMs) resolve()
      }, this.#reportMs)
    })
    try {
      await Promise.race([current.closed, silent])
    } finally {
      clearInterval(timer)
    }
  }

  async #repair(error: unknown): Promise<void> {
    const [node, ...others] = this.#options.nodes.inOrder()
    if (!node || others.length > 0 || !isWithoutAnchor(error))
      return this.#reportFailure(error, "The replication stream failed. Reconnecting.")
    await this.#options.withoutAnchor(node).catch((cause: unknown) => this.#reportFailure(cause, NO_ANCHOR))
  }

  #reportFailure(error: unknown, message: string): void {
    this.#trouble = findTrouble(error, this.#options.databaseUrl)
    this.#failureLog.failed("warn", error, this.#trouble?.message ?? message, {
      position: this.#positionText(),
    })
  }

  #positionText(): string | null {
    const position = this.#sink.position()
    return position === null ? null : lsnToSql(position)
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
