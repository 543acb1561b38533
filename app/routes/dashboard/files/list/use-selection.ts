import { useMemo, useState } from "react"
import type { FileSummary } from "#server/files/contract.ts"

export type Selection = ReturnType<typeof useSelection>

/** Which files are selected. Files that leave the list leave the selection. */
export function useSelection(files: readonly FileSummary[]) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  /** Where a range begins. */
  const [anchor, setAnchor] = useState<string | null>(null)
  const selected = useMemo(
    () => (ids.size === 0 ? [] : files.filter(({ _id }) => ids.has(_id))),
    [files, ids],
  )

  function toggle(id: string) {
    setAnchor(id)
    setIds((before) => {
      const next = new Set(before)
      if (!next.delete(id)) next.add(id)
      return next
    })
  }

  function only(id: string) {
    setAnchor(id)
    setIds(new Set([id]))
  }

  /** Selects everything from the anchor to this file. */
  function extendTo(id: string) {
    const from = files.findIndex(({ _id }) => _id === (anchor ?? id))
    const to = files.findIndex(({ _id }) => _id === id)
    if (from < 0 || to < 0) return only(id)
    const range = files.slice(Math.min(from, to), Math.max(from, to) + 1)
    setAnchor(anchor ?? id)
    setIds(new Set(range.map(({ _id }) => _id)))
  }

  return {
    has: (id: string) => ids.has(id),
    files: selected,
    toggle,
    only,
    extendTo,
    all: (which: readonly FileSummary[] = files) => setIds(new Set(which.map(({ _id }) => _id))),
    clear: () => setIds(new Set()),
  }
}
