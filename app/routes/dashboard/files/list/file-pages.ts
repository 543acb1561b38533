import { msg } from "@lingui/core/macro"
import { i18nOfDocument } from "#app/language/i18n.ts"
import type { FilePage, FileSummary } from "#server/files/contract.ts"

interface Page {
  /** The cursor at which the page begins; null for the first page. */
  readonly cursor: string | null
  readonly files: readonly FileSummary[]
  /** The files may have changed since the page was loaded. */
  readonly isOld: boolean
}

export interface FilePages {
  files: readonly FileSummary[]
  /** The index in `files` at which each page begins. */
  starts: readonly number[]
  hasMore: boolean
  /** Why the next page could not be loaded. */
  problem: string | null
  /** Increases when pages behind the first become stale. */
  age: number
}

export type FilePageStore = ReturnType<typeof createFilePages>

/**
 * The loaded pages of a list, as one list. Each page begins where the previous one ended, so that
 * reloading a page loses nothing and shows nothing twice: files that moved into it are removed from
 * the other pages.
 */
export function createFilePages(first: FilePage, load: (cursor?: string) => Promise<FilePage>) {
  const readers = new Set<() => void>()
  let pages: readonly Page[] = [{ cursor: null, files: first.files, isOld: false }]
  let next = first.nextCursor
  let loading: Promise<void> | undefined
  let problem: string | null = null
  let age = 0
  let shown = join()

  function join(): FilePages {
    const starts: number[] = []
    let count = 0
    for (const { files } of pages) {
      starts.push(count)
      count += files.length
    }
    return { files: pages.flatMap(({ files }) => files), starts, hasMore: next !== null, problem, age }
  }

  function announce() {
    shown = join()
    for (const reader of readers) reader()
  }

  /**
   * Replaces the content of a page. `nextCursor` is left out for a live page, which does not know
   * it.
   */
  function replace(at: number, files: readonly FileSummary[], nextCursor?: string | null) {
    const page = pages[at]
    if (!page || (page.files === files && !page.isOld)) return
    const ids = new Set(files.map(({ _id }) => _id))
    pages = pages.map((other, place) => {
      if (place === at) return { ...page, files, isOld: false }
      const isNext = place === at + 1 && nextCursor !== undefined
      return {
        ...other,
        ...(isNext && { cursor: nextCursor }),
        files: other.files.some(({ _id }) => ids.has(_id))
          ? other.files.filter(({ _id }) => !ids.has(_id))
          : other.files,
      }
    })
    if (nextCursor === null) pages = pages.slice(0, at + 1)
    if (nextCursor !== undefined && at === pages.length - 1) next = nextCursor
    announce()
  }

  async function readNext() {
    const cursor = next
    if (cursor === null) return
    try {
      const page = await load(cursor)
      // The list has become shorter in the meantime, or the page was loaded twice.
      if (next !== cursor) return
      const before = new Set(pages.at(-1)?.files.map(({ _id }) => _id))
      const files = page.files.filter(({ _id }) => !before.has(_id))
      pages = [...pages, { cursor, files, isOld: false }]
      next = page.nextCursor
      problem = null
    } catch (error) {
      const words = msg`More files couldn't be loaded.`
      problem = error instanceof Error ? error.message : i18nOfDocument()._(words)
    }
  }

  return {
    shown: () => shown,
    watch(reader: () => void) {
      readers.add(reader)
      return () => void readers.delete(reader)
    },
    /** Resolves when the next page has been loaded, or `problem` says why not. */
    loadMore(): Promise<void> {
      loading ??= readNext().finally(() => {
        loading = undefined
        announce()
      })
      return loading
    },
    replace,
    /** Marks the pages behind the first as stale. Each is loaded again when it comes into view. */
    age() {
      if (pages.length === 1) return
      pages = pages.map((page, at) => (at === 0 ? page : { ...page, isOld: true }))
      age++
      announce()
    },
    /**
     * Loads the first page again, and marks the others as stale. If that fails, the list stays as
     * it is.
     */
    async reread() {
      this.age()
      const read = await load().catch(() => null)
      if (read) replace(0, read.files, read.nextCursor)
    },
    /** Loads those of these pages again that are stale. */
    async refresh(from: number, to: number) {
      for (let at = Math.max(1, from); at <= to; at++) {
        const page = pages[at]
        if (!page?.isOld || page.cursor === null) continue
        pages = pages.map((other) => (other === page ? { ...page, isOld: false } : other))
        const read = await load(page.cursor).catch(() => null)
        if (!read) return
        replace(at, read.files, read.nextCursor)
      }
    },
    /** Applies a change optimistically, before the server has confirmed it. */
    patch(change: (file: FileSummary) => FileSummary | null) {
      pages = pages.map(({ cursor, isOld, files }) => ({
        cursor,
        isOld,
        files: files.map(change).filter((file) => file !== null),
      }))
      announce()
    },
  }
}
