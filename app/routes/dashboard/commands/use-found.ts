import { msg } from "@lingui/core/macro"
import { useEffect, useState } from "react"
import type { Sentence } from "#app/language/sentences.ts"
import type { SearchResult, SearchResults } from "#server/chat/contract.ts"
import type { FilePage, FileSummary } from "#server/files/contract.ts"
import { send } from "../chat/composer/ask.ts"

/** Of each kind. */
const SHOWN = 5

export interface Found {
  /** The words that this answers. */
  query: string
  threads: readonly SearchResult[]
  files: readonly FileSummary[]
  /** Why there is no answer. */
  problem: Sentence | null
}

const NOTHING: Found = { query: "", threads: [], files: [], problem: null }

/** The conversations and files that hold these words. What was found before stays until there is more to say. */
export function useFound(query: string): Found {
  const [found, setFound] = useState(NOTHING)
  useEffect(() => {
    if (query === "") return
    const gone = new AbortController()
    const look = async () => {
      try {
        setFound({ query, ...(await search(query, gone.signal)), problem: null })
      } catch (problem) {
        if (gone.signal.aborted) return
        setFound({ ...NOTHING, query, problem: problem instanceof Error ? problem.message : msg`Try again.` })
      }
    }
    const timer = setTimeout(() => void look(), 150)
    return () => {
      clearTimeout(timer)
      gone.abort()
    }
  }, [query])
  return query === "" ? NOTHING : found
}

async function search(query: string, signal: AbortSignal) {
  const words = new URLSearchParams({ q: query })
  const [{ results }, { files }] = await Promise.all([
    send<SearchResults>("GET", `/api/chat/search?${words}`, { signal }),
    send<FilePage>("GET", `/api/files?${words}&limit=${SHOWN}`, { signal }),
  ])
  return { threads: results.slice(0, SHOWN), files }
}
