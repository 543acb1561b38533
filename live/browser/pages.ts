import type { LiveRow, Loaded } from "../protocol/contract.ts"
import { keyOf } from "./client.ts"
import type { Collection } from "./collection.ts"
import { rowComparison } from "./rows.ts"

export interface Pages {
  rows: readonly LiveRow[]
  hasMore: boolean
  /** The next page has been asked for. */
  isLoading: boolean
}

export type PagedList = ReturnType<typeof createPages>

/** Where pages come from: the client, or what reads those that no live query has. */
export interface PageSource {
  hold(loaded: Loaded): { collection: Collection; release(): void }
  readAgain?(): Promise<void>
}

interface Page {
  key: string
  collection: Collection
  leave(): void
}

/**
 * The pages of one query. Each is live, and begins where the one before ends. When that end moves
 * because the previous page was read again, the pages after it are read again as well, and keep
 * showing their rows until then. So do all pages of a list that is watched again.
 */
export function createPages(source: PageSource, loaded: Loaded, argsAfter: (end: string) => unknown) {
  const readers = new Set<() => void>()
  const compare = rowComparison(loaded.order)
  let first = loaded
  let wanted = 1
  let pages: Page[] = []
  let replacing = false
  let shown: Pages = { rows: loaded.rows, hasMore: loaded.end !== null, isLoading: false }

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

  function enter(asked: Loaded): Page {
    const { collection, release } = source.hold(asked)
    const unwatch = collection.watch(follow)
    return {
      key: keyOf(asked),
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
    if (replacing && last) {
      const ids = new Set(rows.map(({ _id }) => _id))
      rows.push(...shown.rows.filter((row) => compare(last, row) < 0 && !ids.has(row._id)))
    }
    const hasMore = unread > 0 || pages.at(-1)?.collection.end !== null
    const isLoading = hasMore && wanted > read.length
    if (isShown(rows) && shown.hasMore === hasMore && shown.isLoading === isLoading) return
    shown = { rows, hasMore, isLoading }
    for (const reader of readers) reader()
  }

  function isShown(rows: readonly LiveRow[]): boolean {
    return rows.length === shown.rows.length && rows.every((row, at) => row === shown.rows[at])
  }

  return {
    shown: () => shown,
    readAgain: source.readAgain,
    loadMore() {
      if (!shown.hasMore || shown.isLoading) return
      wanted = Math.max(1, pages.length) + 1
      if (pages.length > 0) follow()
    },
    /** Where a list that nobody watches begins when it is watched again. */
    startFrom(newer: Loaded) {
      first = newer
    },
    watch(reader: () => void) {
      readers.add(reader)
      if (pages.length === 0) {
        replacing = wanted > 1
        follow()
      }
      return () => {
        readers.delete(reader)
        if (readers.size > 0) return
        for (const page of pages.splice(0)) page.leave()
      }
    },
  }
}
