import { setImmediate as afterOthers } from "node:timers/promises"

/** Rows held in memory at a time, unless they are known to be large. */
const PAGE = 500

/**
 * The rows that `read` returns in pages, in the order of their `_id`: it gets the last one's, and
 * the most rows to return. Other requests run between two rows, because what is done with one may
 * take a while.
 */
export async function* eachRow<Row extends { _id: string }>(
  read: (after: string | undefined, most: number) => Promise<Row[]>,
  most = PAGE,
): AsyncGenerator<Row> {
  for (let last: string | undefined; ;) {
    const rows = await read(last, most)
    for (const row of rows) {
      yield row
      await afterOthers()
    }
    last = rows.at(-1)?._id
    if (rows.length < most) return
  }
}
