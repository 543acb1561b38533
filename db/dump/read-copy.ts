import type { Readable } from "node:stream"
import { finished } from "node:stream/promises"
import type { Run } from "#db/transaction.ts"

/** Runs `take` on what a `copy ... to stdout` returns. Afterwards the connection is free again. */
export function readCopy<Result>(
  run: Run,
  statement: string,
  take: (lines: AsyncIterable<Uint8Array>) => Promise<Result>,
): Promise<Result> {
  return run(async (sql) => {
    const rows = await sql.unsafe(statement).readable()
    try {
      return await take(rows.iterator({ destroyOnReturn: false }))
    } finally {
      // PostgreSQL takes no other statement on this connection before all has been read, and the
      // client never reads the rest for a stream that was destroyed.
      await finished(rows.resume()).catch(() => {})
      resumeConnection(rows)
    }
  })
}

/**
 * The driver pauses the connection when its stream is full, until the stream wants more. A stream
 * that has received its end in the same packet never does, and the next statement would wait for
 * its result forever: https://github.com/porsager/postgres/issues/499
 */
function resumeConnection(rows: Readable) {
  // oxlint-disable-next-line no-underscore-dangle -- the only way to the driver's `resume`
  rows._read(0)
}
