import type { Duplex } from "node:stream"
import postgres from "postgres"

export interface Inserted {
  /** Column values as text, in the table's order. */
  values: string[]
}

export interface Commit {
  lsn: bigint
  xid: number
  /** The commit time in ms since 1970. */
  at: number
  inserted: Inserted[]
}

const POSTGRES_EPOCH = Date.UTC(2000, 0, 1)

/** The minimal reader of PostgreSQL's log: inserts of one table, without reconnecting or checks. */
export async function feed(databaseUrl: string, onCommit: (commit: Commit) => void): Promise<void> {
  const sql = postgres(databaseUrl, {
    max: 1,
    fetch_types: false,
    idle_timeout: 0,
    max_lifetime: null,
    connection: { replication: "database" },
  })
  await sql.unsafe("create publication floor for table notes").simple()
  await sql.unsafe("CREATE_REPLICATION_SLOT floor TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT").simple()
  const stream = (await sql
    .unsafe("START_REPLICATION SLOT floor LOGICAL 0/0 (proto_version '1', publication_names 'floor')")
    .writable()) as Duplex
  let commit: Commit = { lsn: 0n, xid: 0, at: 0, inserted: [] }
  let read = 0n
  stream.on("data", (bytes: Buffer) => {
    if (bytes[0] !== 0x77) return
    const kind = bytes[25]
    if (kind === 0x42) commit = { lsn: 0n, xid: bytes.readUInt32BE(42), at: 0, inserted: [] }
    else if (kind === 0x49) commit.inserted.push({ values: readTuple(bytes, 31) })
    else if (kind === 0x43) {
      read = bytes.readBigUInt64BE(35)
      onCommit({ ...commit, lsn: read, at: POSTGRES_EPOCH + Number(bytes.readBigInt64BE(43) / 1000n) })
    }
  })
  setInterval(() => stream.write(statusUpdate(read)), 1000)
}

/** Parses columns: `n` is null, `t` is text after its length. Inserts use no other kind. */
function readTuple(bytes: Buffer, start: number): string[] {
  const values: string[] = []
  const count = bytes.readUInt16BE(start)
  let at = start + 2
  for (let column = 0; column < count; column++) {
    if (bytes[at++] !== 0x74) {
      values.push("")
      continue
    }
    const length = bytes.readUInt32BE(at)
    at += 4
    values.push(bytes.toString("utf8", at, at + length))
    at += length
  }
  return values
}

function statusUpdate(lsn: bigint): Buffer {
  const bytes = Buffer.alloc(34)
  bytes[0] = 0x72
  for (const offset of [1, 9, 17]) bytes.writeBigUInt64BE(lsn, offset)
  return bytes
}
