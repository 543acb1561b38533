import { randomBytes } from "node:crypto"

import { createFailureLog } from "#server/log.ts"
import { copyAnchor, ensureAnchor, type Anchor } from "./anchor.ts"
import type { ConnectionPool } from "#db/connections.ts"
import type { Log } from "./log.ts"
import { lsnToSql } from "./lsn.ts"
import type { Metrics } from "./metrics.ts"
import { createDecoder, type Describing } from "./pgoutput.ts"
import { openReplication, type ReplicationConnection, type Stream } from "./replication.ts"
import type { createAssembler, Transaction } from "./transactions.ts"
import type { Told } from "./contract.ts"
import { findTrouble } from "./trouble.ts"

/** The receiver of the log. */
export interface Sink {
  /** Its position; null before the first start. */
  position(): bigint | null
  /** Whether this is another cluster than before, so that positions in it are not comparable. */
  moved(system: string, timeline: string): boolean
  /**
   * There is a gap before `start`, or this is the first start: everything after it will be
   * delivered.
   */
  restart(start: bigint, system: string, timeline: string): void
  transaction(transaction: Transaction): void
  advance(lsn: bigint): void
}

export interface ReaderOptions {
  readonly databaseUrl: string
  readonly pool: ConnectionPool
  readonly anchor: Anchor
  readonly sink: Sink
  readonly assembler: ReturnType<typeof createAssembler>
  readonly describing: Describing
  /**
   * Called when the log before this position is of no use to anybody, because there is too much of
   * it to read.
   */
  readonly skipped: (start: bigint) => void
  /**
   * Called before each start: the stream's short transaction ids are widened with a recent full
   * one.
   */
  readonly prepare: () => Promise<void>
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
  trouble(): Told | null
  pause(): void
  resume(): void
  stop(): Promise<void>
}

/** Before the stream has begun, no watchdog waits for keepalives. */
const STARTING_MS = 30_000

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
  let wake: (() => void) | null = null
  let trouble: Told | null = null
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
      await rest(Math.min(2000, 10 * 2 ** failures++) * (0.5 + Math.random()))
    }
  }

  async function session(): Promise<void> {
    assembler.reset()
    const opened = openReplication(options.databaseUrl, "realtime stream")
    connection = opened
    const startTimer = setTimeout(() => void opened.end(), STARTING_MS)
    try {
      await options.prepare()
      const { system, timeline, flushed, senderTimeoutMs } = await connection.identify()
      const slot = `${options.anchor.name}_${process.pid}_${randomBytes(4).toString("hex")}`
      const copied = await copyAnchor(connection.sql, options.anchor, slot)
      const start = placeToStart(copied, flushed, system, timeline)
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
      clearTimeout(startTimer)
      if (paused) stream.pause()
      reportMs = Math.min(options.reportMs, senderTimeoutMs > 0 ? senderTimeoutMs / 4 : options.reportMs)
      stream.report(start)
      streamingSince = performance.now()
      trouble = null
      await watch(stream)
    } finally {
      clearTimeout(startTimer)
      stream = null
      await connection.end()
      connection = null
    }
  }

  /**
   * PostgreSQL silently skips what a slot no longer holds, so the copy's position is compared with
   * ours before starting.
   */
  function placeToStart(copied: bigint, flushed: bigint, system: string, timeline: string): bigint {
    const position = sink.position()
    const known = position !== null && !sink.moved(system, timeline)
    if (known && copied <= position && position <= flushed) return position
    const earliest = flushed - options.replayBytes
    const start = copied > earliest ? copied : earliest
    if (start > copied) options.skipped(start)
    if (position !== null) {
      metrics.count("stream_gaps")
      log.error(
        { position: lsnToSql(position), start: lsnToSql(start), flushed: lsnToSql(flushed) },
        "the log no longer contains this process's position; its clients read everything again",
      )
    }
    sink.restart(start, system, timeline)
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
    const code = error instanceof Error && "code" in error ? error.code : undefined
    // No such slot, or one that PostgreSQL has invalidated.
    if (code !== "42704" && code !== "55000")
      return reportFailure(error, "The replication stream failed. Reconnecting.")
    await ensureAnchor(options.pool, options.anchor).catch((cause: unknown) =>
      reportFailure(cause, "The anchor slot cannot be created. Long open transactions delay it."),
    )
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
