import { msg } from "@lingui/core/macro"
import { useEffect, useState } from "react"
import type { Sentence } from "#app/language/sentences.ts"

/** Milliseconds without typing before the search request. */
const PAUSE = 150

export interface Search<Found> {
  /** The text that `found` or `problem` belongs to; null before the first response. */
  text: string | null
  found: Found | null
  problem: Sentence | null
}

/**
 * Searches for the text once typing has paused, and aborts searches that are no longer wanted. The
 * previous results stay until the response arrives. `look` must not change between renders.
 */
export function useSearch<Found>(
  text: string,
  look: (text: string, signal: AbortSignal) => Promise<Found>,
): Search<Found> {
  const [search, setSearch] = useState<Search<Found>>({ text: null, found: null, problem: null })
  useEffect(() => {
    const stopped = new AbortController()
    const { signal } = stopped
    const run = () =>
      look(text, signal).then(
        (found) => (signal.aborted ? undefined : setSearch({ text, found, problem: null })),
        (error: unknown) => {
          if (signal.aborted) return
          const problem = error instanceof Error ? error : msg`Try again.`
          setSearch({ text, found: null, problem })
        },
      )
    const timer = setTimeout(() => void run(), text === "" ? 0 : PAUSE)
    return () => {
      clearTimeout(timer)
      stopped.abort()
    }
  }, [text, look])
  return search
}
