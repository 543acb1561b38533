import { useMemo, useState } from "react"
import type { MatchCount } from "#server/files/acts-contract.ts"
import type { FileSummary } from "#server/files/contract.ts"

export type Selection = ReturnType<typeof useSelection>

interface Selected {
  /** Those that are selected; with `matching`, those that are not. */
  ids: ReadonlySet<string>
  /** All that match the search are selected. */
  matching: (MatchCount & { search: string }) | null
  /** They are those that were loaded when all were selected: there may be more by now. */
  wereLoaded: boolean
}

const NOTHING: Selected = { ids: new Set(), matching: null, wereLoaded: false }

/**
 * Which files are selected: some of those that have been loaded, or all that match the list's search
 * except some. Files that leave the list leave the selection, files that were added after all were
 * selected are not part of it, and another search ends a selection of all.
 */
export function useSelection(files: readonly FileSummary[], search: string) {
  const [state, setState] = useState(NOTHING)
  /** Where a range begins. */
  const [anchor, setAnchor] = useState<string | null>(null)
  const { ids, matching, wereLoaded } = state.matching && state.matching.search !== search ? NOTHING : state
  const selected = useMemo(() => {
    if (!matching) return ids.size === 0 ? [] : files.filter(({ _id }) => ids.has(_id))
    return files.filter(({ _id, _creationTime }) => !ids.has(_id) && _creationTime <= matching.until)
  }, [files, ids, matching])
  const selectedIds = useMemo(() => new Set(selected.map(({ _id }) => _id)), [selected])
  const left = matching ? files.filter(({ _id }) => ids.has(_id)) : []

  function choose(some: Iterable<string>) {
    setState({ ...NOTHING, ids: new Set(some) })
  }

  function toggle(id: string) {
    setAnchor(id)
    const next = new Set(ids)
    if (!next.delete(id)) next.add(id)
    setState({ ids: next, matching, wereLoaded: false })
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
    count: matching ? Math.max(0, matching.count - left.length) : selected.length,
    size: matching ? Math.max(0, matching.size - sizeOf(left)) : sizeOf(selected),
    /** Null unless all that match are selected. */
    matching: matching && { until: matching.until, except: left.map(({ _id }) => _id) },
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

function sizeOf(files: readonly FileSummary[]) {
  return files.reduce((sum, { size }) => sum + size, 0)
}
