import { href } from "react-router"
import type { Sentence } from "#app/language/sentences.ts"
import type { SearchResult, SearchResults } from "#server/chat/read-operations.ts"
import type { FilePage, FileSummary } from "#server/files/contract.ts"
import { send } from "#app/routes/dashboard/requests/send.ts"
import { useSearch } from "#app/routes/dashboard/requests/use-search.ts"

/** Results of each kind. */
const SHOWN = 5

export interface Found {
  /** The query that these are the results of. */
  query: string
  threads: readonly SearchResult[]
  files: readonly FileSummary[]
  /** Why there are no results. */
  problem: Sentence | null
}

const NONE = { threads: [], files: [] }
const NOTHING: Found = { query: "", ...NONE, problem: null }

/**
 * The conversations and files that contain this text. The previous results stay until there are new
 * ones.
 */
export function useFound(query: string): Found {
  const { text, found, problem } = useSearch(query, search)
  if (query === "" || text === null) return NOTHING
  return { query: text, ...(found ?? NONE), problem }
}

async function search(query: string, signal: AbortSignal) {
  if (query === "") return NONE
  const words = new URLSearchParams({ q: query, everywhere: "true" })
  const [{ results }, { files }] = await Promise.all([
    send<SearchResults>("GET", `/api/chat/search?${words}`, { signal }),
    send<FilePage>("GET", `${href("/api/files")}?${words}&limit=${SHOWN}`, { signal }),
  ])
  return { threads: results.slice(0, SHOWN), files }
}
