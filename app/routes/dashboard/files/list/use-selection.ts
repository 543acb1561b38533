import { useMemo, useState } from "react"
import type { MatchCount } from "#server/files/acts-contract.ts"
import type { FileSummary } from "#server/files/contract.ts"

export type Selection = ReturnType<typeof useSelection>

interface Selected {
  ids: ReadonlySet<string>
  /** All that match the search are selected, except some. */
  matching: (MatchCount & { search: string }) | null
  /** Those that are not selected then, with their sizes: they need not be loaded any more. */
  except: ReadonlyMap<string, number>
  /** They are those that were loaded when all were selected: there may be more by now. */
  wereLoaded: boolean
}

const NOTHING: Selected = { ids: new Set(), matching: null, except: new Map(), wereLoaded: false }

/**
 * Which files are selected: some of those that have been loaded, or all that match the list's search
 * except some. Files that leave the list leave the selection, files that were added after all were
 * selected are not part of it, and another search ends a selection of all.
 */
export function useSelection(files: readonly FileSummary[], search: string) {
  const [state, setState] = useState(NOTHING)
  /** Where a range begins. */
  const [anchor, setAnchor] = useState<string | null>(null)
  const isOver = state.matching !== null && state.matching.search !== search
  const { ids, matching, except, wereLoaded } = isOver ? NOTHING : state
  const selected = useMemo(() => {
    if (!matching) return ids.size === 0 ? [] : files.filter(({ _id }) => ids.has(_id))
    return files.filter(({ _id, _creationTime }) => !except.has(_id) && _creationTime <= matching.until)
  }, [files, ids, matching, except])
  const selectedIds = useMemo(() => new Set(selected.map(({ _id }) => _id)), [selected])

  function choose(some: Iterable<string>) {
    setState({ ...NOTHING, ids: new Set(some) })
  }

  function toggle(id: string) {
    setAnchor(id)
    if (matching) return toggleAmongAll(id, matching)
    const next = new Set(ids)
    if (!next.delete(id)) next.add(id)
    choose(next)
  }

  function toggleAmongAll(id: string, all: NonNullable<Selected["matching"]>) {
    const file = files.find(({ _id }) => _id === id)
    if (!file) return
    // It was added after all were selected.
    if (file._creationTime > all.until) return choose([id])
    const next = new Map(except)
    if (!next.delete(id)) next.set(id, file.size)
    setState({ ...NOTHING, matching: all, except: next })
  }

  function only(id: string) {
    setAnchor(id)
    choose([id])
  }

  /** Selects everything from the anchor to this file. */
  function extendTo(id: string) {
    const from = files.findIndex(({ _id }) => _id === (anchor ?? id))
    const to = files.findIndex(({ _id }) => _id === id)
    if (from < 0 || to < 0) return only(id)
    setAnchor(anchor ?? id)
    choose(files.slice(Math.min(from, to), Math.max(from, to) + 1).map(({ _id }) => _id))
  }

  return {
    has: (id: string) => selectedIds.has(id),
    /** Those among the loaded files. */
    files: selected,
    count: matching ? Math.max(0, matching.count - except.size) : selected.length,
    size: matching
      ? Math.max(0, matching.size - sum(except.values()))
      : sum(selected.map(({ size }) => size)),
    /** Null unless all that match are selected. */
    matching: matching && { until: matching.until, except: [...except.keys()] },
    toggle,
    only,
    extendTo,
    wereLoaded,
    allLoaded: () => setState({ ...NOTHING, ids: new Set(files.map(({ _id }) => _id)), wereLoaded: true }),
    allMatching: (counted: MatchCount) => setState({ ...NOTHING, matching: { ...counted, search } }),
    /** When files of a selection of all were removed or renamed. */
    recount({ count, size }: MatchCount) {
      setState((before) =>
        before.matching ? { ...before, matching: { ...before.matching, count, size } } : before,
      )
    },
    clear: () => choose([]),
  }
}

function sum(sizes: Iterable<number>) {
  let total = 0
  for (const size of sizes) total += size
  return total
}
