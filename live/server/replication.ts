import type { Duplex } from "node:stream"

import type postgres from "postgres"

import { TEXT_FORM } from "./connection-options.ts"
import { readHistory, type Lineage } from "./lineage.ts"
import { lsnFromSql, lsnToSql } from "./lsn.ts"
import { openPostgres } from "../postgres/servers.ts"

/**
 * One connection in replication mode: PostgreSQL's streaming replication protocol over the postgres
 * package.
 */
export interface ReplicationConnection {
  readonly sql: postgres.Sql
  /** Where the server's log is. A `known` lineage is not read again. */
  locate(known: Lineage | null): Promise<Location>
  /** Milliseconds for which PostgreSQL waits for a word of this end; 0 for ever. */
  senderTimeout(): Promise<number>
  /**
   * Makes a permanent slot for pgoutput; resolves when it can be read from. If there is one of this
   * name, another process is making it, and it may not be ready yet.
   */
  makeSlot(slot: string): Promise<void>
  start(slot: string, publication: string, from: bigint, listener: Listener): Promise<Stream>
  end(): Promise<void>
}

export interface Location {
  readonly lineage: Lineage
  /** How far the server has its log on disk; on a standby, the log of this timeline. */
  readonly flushed: bigint
}

export interface Listener {
  /** One pgoutput message. The bytes are only valid during the call. */
  message(bytes: Buffer): void
  /** Everything before `end` has been sent. */
  keepalive(end: bigint): void
}

export interface Stream {
  /** Rejects with what the listener threw. */
  readonly closed: Promise<void>
  /** Tells PostgreSQL which log it need not keep for this stream, and requests a keepalive. */
  report(lsn: bigint): void
  pause(): void
  resume(): void
}

export function openReplication(databaseUrl: string, application: string): ReplicationConnection {
  const sql = openPostgres(databaseUrl, {
    max: 1,
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: 10,
    onnotice() {},
    connection: {
      ...TEXT_FORM,
      replication: "database",
      application_name: application,
      statement_timeout: 0,
      idle_in_transaction_session_timeout: 0,
    },
  })

  return {
    sql,
    async locate(known) {
      const [row] = await sql.unsafe("IDENTIFY_SYSTEM").simple()
      const system = String(row?.["systemid"])
      const timeline = Number(row?.["timeline"])
      const flushed = lsnFromSql(String(row?.["xlogpos"]))
      if (known?.system === system && known.timeline === timeline) return { lineage: known, flushed }
      return { lineage: { system, timeline, ends: await readEnds(timeline) }, flushed }
    },
    async senderTimeout() {
      const [row] = await sql
        .unsafe("select setting from pg_settings where name = 'wal_sender_timeout'")
        .simple()
      return Number(row?.["setting"])
    },
    async makeSlot(slot) {
      try {
        await sql.unsafe(`CREATE_REPLICATION_SLOT ${slot} LOGICAL pgoutput (SNAPSHOT 'nothing')`).simple()
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === DUPLICATE)) throw error
      }
    },
    async start(slot, publication, from, listener) {
      const command = `START_REPLICATION SLOT ${slot} LOGICAL ${lsnToSql(from)}
        (proto_version '1', publication_names '${publication}', messages 'true')`
      const duplex = await sql.unsafe(command).writable()
      // The postgres package types the stream by the direction that was requested, but CopyBoth
      // gives one stream with both.
      return listen(duplex as Duplex, listener)
    },
    async end() {
      await sql.end({ timeout: 0 }).catch(() => {})
    },
  }

  /** The first timeline has no history. Of one whose file was removed, nothing earlier is known. */
  async function readEnds(timeline: number): Promise<Map<number, bigint>> {
    if (timeline === 1) return new Map()
    try {
      const [file] = await sql.unsafe(`TIMELINE_HISTORY ${timeline}`).simple()
      return readHistory(String(file?.["content"]))
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === NO_SUCH_FILE) return new Map()
      throw error
    }
  }
}

const NO_SUCH_FILE = "58P01"
const DUPLICATE = "42710"

function listen(duplex: Duplex, listener: Listener): Stream {
  const closed = Promise.withResolvers<void>()
  duplex.once("close", closed.resolve)
  duplex.once("end", closed.resolve)
  duplex.on("error", () => closed.resolve())
  duplex.on("data", onData)
  return {
    closed: closed.promise,
    report(lsn) {
      if (duplex.writable) duplex.write(statusUpdate(lsn))
    },
    pause: () => duplex.pause(),
    resume: () => duplex.resume(),
  }

  /**
   * After an error nothing more is read: the rest would continue a transaction that is partly
   * missing.
   */
  function onData(bytes: Buffer): void {
    try {
      if (bytes[0] === 0x77) listener.message(bytes.subarray(25))
      else if (bytes[0] === 0x6b) listener.keepalive(bytes.readBigUInt64BE(1))
    } catch (error) {
      duplex.off("data", onData)
      closed.reject(error)
    }
  }
}

const POSTGRES_EPOCH = Date.UTC(2000, 0, 1)

/** Standby status update. The last byte requests a keepalive, which the watchdog waits for. */
function statusUpdate(lsn: bigint): Buffer {
  const bytes = Buffer.alloc(34)
  bytes[0] = 0x72
  bytes.writeBigUInt64BE(lsn, 1)
  bytes.writeBigUInt64BE(lsn, 9)
  bytes.writeBigUInt64BE(lsn, 17)
  bytes.writeBigInt64BE(BigInt(Date.now() - POSTGRES_EPOCH) * 1000n, 25)
  bytes[33] = 1
  return bytes
}
