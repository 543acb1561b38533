import type { LiveRow, Loaded } from "#server/realtime/contract.ts"
import { keyOf, type LiveClient } from "./client.ts"
import type { Collection } from "./collection.ts"
import { rowComparison } from "./rows.ts"

export interface Pages {
  rows: readonly LiveRow[]
  /** How many pages have been read. */
  count: number
  hasMore: boolean
}

interface Page {
  key: string
  collection: Collection
  leave(): void
}

/** What a page knows when rendered: the first page of rows only. */
export function firstPage({ rows, end }: Loaded): Pages {
  return { rows, count: 1, hasMore: end !== null }
}

/**
 * The pages of one query. Each is live, and begins where the one before ends. When that end moves
 * because the previous page was read again, the pages after it are read again as well, and keep
 * showing their rows until then.
 */
export function createPages(
  client: LiveClient,
  first: Loaded,
  argsAfter: (end: string) => unknown,
  /** What the page already shows. */
  rendered: Pages = firstPage(first),
) {
  const readers = new Set<() => void>()
  const compare = rowComparison(first.order)
  let wanted = 1
  let pages: Page[] = []
  let replacing = false
  let shown = rendered

  function follow() {
    for (let at = 0; at < Math.max(wanted, pages.length); at++) {
      const asked = at === 0 ? first : next(pages[at - 1])
      if (asked && pages[at]?.key === keyOf(asked)) continue
      leaveFrom(at)
      if (!asked) break
      pages.push(enter(asked))
    }
    view()
  }

  function next(before: Page | undefined): Loaded | undefined {
    const { collection } = before ?? {}
    if (!collection || collection.end === null) return undefined
    const { query, order } = first
    return { query, args: argsAfter(collection.end), rows: [], order, end: null }
  }

  function enter(loaded: Loaded): Page {
    const { collection, release } = client.hold(loaded)
    const unwatch = collection.watch(follow)
    return {
      key: keyOf(loaded),
      collection,
      leave() {
        unwatch()
        release()
      },
    }
  }

  function leaveFrom(at: number) {
    const left = pages.splice(at)
    replacing ||= left.some(({ collection }) => collection.isRead)
    for (const page of left) page.leave()
  }

  function view() {
    const unread = pages.findIndex(({ collection }, at) => at > 0 && !collection.isRead)
    const read = unread < 0 ? pages : pages.slice(0, unread)
    // A row that moves from one page to another is briefly in both.
    const rows = [
      ...new Map(
        read
          .toReversed()
          .flatMap(({ key, collection }) => collection.rows(key === keyOf(first) ? first : undefined))
          .map((row) => [row._id, row]),
      ).values(),
    ].toSorted(compare)
    const last = rows.at(-1)
    replacing &&= unread > 0
    if (replacing && last) rows.push(...shown.rows.filter((row) => compare(last, row) < 0))
    const hasMore = unread > 0 || pages.at(-1)?.collection.end !== null
    if (isShown(rows) && shown.count === read.length && shown.hasMore === hasMore) return
    shown = { rows, count: read.length, hasMore }
    for (const reader of readers) reader()
  }

  function isShown(rows: readonly LiveRow[]): boolean {
    return rows.length === shown.rows.length && rows.every((row, at) => row === shown.rows[at])
  }

  return {
    shown: () => shown,
    want(count: number) {
      wanted = count
      if (pages.length > 0) follow()
    },
    watch(reader: () => void) {
      readers.add(reader)
      if (pages.length === 0) follow()
      return () => {
        readers.delete(reader)
        if (readers.size > 0) return
        for (const page of pages.splice(0)) page.leave()
      }
    },
  }
}
