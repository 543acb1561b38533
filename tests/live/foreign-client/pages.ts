import type { Change, Order, Part, Row } from "./connection.ts"

export interface Follow {
  query: string
  args: object
  /** How many pages the user wants. */
  wanted: number
  pages: Page[]
}

export interface Page {
  follow: Follow
  /** Where it begins; undefined for the first page. */
  after: string | undefined
  /** Its subscription on this connection. */
  id: number | undefined
  state: "due" | "live" | "unjoined" | "ended"
  rows: Map<string, Row>
  order: Order
  end: string | null | undefined
  token: string | undefined
  /** How far its rows were live on an earlier connection. */
  lsn: string | undefined
}

export function newPage(follow: Follow, after?: string): Page {
  const unread = { id: undefined, end: undefined, token: undefined, lsn: undefined }
  return { follow, after, state: "due", rows: new Map(), order: [], ...unread }
}

export function forget(page: Page) {
  page.rows.clear()
  Object.assign(page, {
    state: page.state === "live" ? "due" : page.state,
    token: undefined,
    lsn: undefined,
  })
}

export function applyPart(page: Page, part: Part, continued: boolean) {
  if (part.kind === "changes") {
    for (const change of part.changes) applyChange(page.rows, change)
  } else {
    if (!continued) page.rows.clear()
    for (const row of part.rows) page.rows.set(row._id, row)
    page.order = part.order
    page.end = part.end
  }
  page.token = part.token
  page.lsn = undefined
}

export function applyChange(rows: Map<string, Row>, [, op, key, row]: Change) {
  const old = rows.get(key)
  if (op === "remove") rows.delete(key)
  else if (op === "put" && row) rows.set(key, row)
  else if (op === "merge" && old) rows.set(key, { ...old, ...row })
}

/** Where pages overlap for a moment, each row is shown once. */
export function shownRows({ pages }: Follow): Row[] {
  const sorted = pages.flatMap(({ rows, order }) => {
    const list = [...rows.values()]
    return order.length > 0 ? list.toSorted((a, b) => compareRows(a, b, order)) : list
  })
  const shown = new Map<string, Row>()
  for (const row of sorted) if (!shown.has(row._id)) shown.set(row._id, row)
  return [...shown.values()]
}

function compareRows(a: Row, b: Row, order: Order): number {
  for (const [field, direction] of order) {
    const difference = compareValues(a[field] ?? null, b[field] ?? null)
    if (difference !== 0) return direction === "asc" ? difference : -difference
  }
  return compareValues(a._id, b._id)
}

/** Null is the greatest value; texts compare by their bytes in UTF-8. */
function compareValues(a: unknown, b: unknown): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  if (typeof a === "string" && typeof b === "string") return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return Number(a) - Number(b)
}
