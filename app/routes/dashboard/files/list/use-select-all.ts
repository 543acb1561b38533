import { useEffect, useEffectEvent, useState } from "react"
import { send } from "#app/routes/dashboard/requests/send.ts"
import type { MatchCount } from "#server/files/acts-contract.ts"
import type { FilePages } from "./use-file-pages.ts"
import type { Selection } from "./use-selection.ts"

/** Milliseconds. Changes within this time cause one count. */
const COUNT_AGAIN_AFTER = 300

/**
 * Selects the files that have been loaded and, once those are selected, all that match the search.
 * How many that are is counted by the server, again when the revision shows that the files of the
 * place have changed.
 */
export function useSelectAll({ rows, hasMore, revision }: FilePages, selection: Selection, search: string) {
  const { matching } = selection
  const isOffered = selection.wereLoaded && (hasMore || rows.length > selection.count)
  const until = matching?.until
  const query = until === undefined ? search : `${search}&until=${until}`
  const [counted, setCounted] = useState<{ query: string; found: MatchCount } | null>(null)
  const recount = useEffectEvent(selection.recount)
  const isCounting = isOffered || matching !== null
  const isKnown = counted?.query === query
  useEffect(() => {
    if (!isCounting) return
    const leaving = new AbortController()
    const count = async () => {
      const found = await send<MatchCount>("GET", `/api/files/count?${query}`, {
        signal: leaving.signal,
      })
      setCounted({ query, found })
      if (until !== undefined) recount(found)
    }
    // Without a number it is not offered to select them all.
    const timer = setTimeout(() => void count().catch(() => {}), isKnown ? COUNT_AGAIN_AFTER : 0)
    return () => {
      clearTimeout(timer)
      leaving.abort()
    }
    // oxlint-disable-next-line react/exhaustive-deps -- what is known decides only how soon
  }, [isCounting, query, revision])
  const offered = isOffered && isKnown && counted.found.count > selection.count ? counted.found : null
  return {
    /** How many can be selected beyond those that are loaded. */
    offered: offered?.count ?? null,
    selectAll() {
      if (offered) selection.allMatching(offered)
      else if (!matching) selection.allLoaded()
    },
  }
}
