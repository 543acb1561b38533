import * as v from "valibot"
import { ListPlace } from "#server/operator/contract.ts"

/** Rows on a page. */
const LIMIT = 50

/**
 * The requested page of a list. `list` is called with one row more than the page holds, which shows
 * whether there are older ones.
 */
export async function pageOf<Row extends { _id: string }>(
  url: URL,
  list: (place: { q: string; before: string | undefined; limit: number }) => Promise<Row[]>,
) {
  const { q, before } = v.parse(ListPlace, Object.fromEntries(url.searchParams))
  const found = await list({ q, before, limit: LIMIT + 1 })
  const rows = found.slice(0, LIMIT)
  return { q, rows, older: found.length > LIMIT ? (rows.at(-1)?._id ?? null) : null }
}
