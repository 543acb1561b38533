import { plural } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { useCallback } from "react"
import { Link } from "react-router"
import { useSentences } from "#app/language/sentences.ts"
import type { SearchResult, SearchResults, Snippet } from "#server/chat/read-operations.ts"
import { send } from "#app/routes/dashboard/requests/send.ts"
import { usePlace, type Place } from "#app/routes/dashboard/place/use-place.ts"
import { useSearch } from "#app/routes/dashboard/requests/use-search.ts"
import { inOrder } from "#app/features/markdown/in-order.tsx"

export function SearchResultList({ sought, onLeave }: { sought: string; onLeave: (() => void) | undefined }) {
  const { t } = useLingui()
  const say = useSentences()
  const { spaceId, addresses } = usePlace()
  const search = useCallback(
    (text: string, signal: AbortSignal) => searchThreads(text, spaceId, signal),
    [spaceId],
  )
  const { found: results, problem } = useSearch(sought, search)
  if (problem) {
    return (
      <p role="alert" className="px-2.5 py-2 text-sm text-danger-ink">
        {say(problem)}
      </p>
    )
  }
  const count = results?.length ?? 0
  const found =
    results &&
    t`${plural(count, {
      0: "Nothing was found.",
      one: "One conversation was found.",
      other: "# conversations were found.",
    })}`
  return (
    <>
      <p role="status" className={results?.length === 0 ? "px-2.5 py-2 text-sm text-faint" : "sr-only"}>
        {found}
      </p>
      <ul className="space-y-0.5" aria-label={t`Found`}>
        {results?.map((result) => (
          <li key={result.thread._id}>
            <Link
              to={addressOf(result, addresses)}
              className="block rounded-md px-2.5 py-2 text-sm hover:bg-hover"
              {...(onLeave && { onClick: onLeave })}
            >
              <span className="block truncate font-medium">
                {result.messageId ? result.thread.title : <Marked snippet={result.snippet} />}
              </span>
              {result.messageId ? (
                <span className="mt-0.5 line-clamp-2 text-xs [overflow-wrap:anywhere] text-muted">
                  <Marked snippet={nearFirst(result.snippet)} />
                </span>
              ) : null}
            </Link>
          </li>
        ))}
      </ul>
    </>
  )
}

function addressOf({ thread, messageId }: SearchResult, { threadAt }: Place["addresses"]) {
  const page = threadAt(thread._id)
  return messageId ? `${page}#message-${messageId}` : page
}

/**
 * Characters of a snippet before its first match: with more, the match would be cut off in a narrow
 * list.
 */
const BEFORE = 24

function nearFirst({ text, matches }: Snippet): Snippet {
  const cut = Math.max(0, text.lastIndexOf(" ", (matches[0]?.[0] ?? 0) - BEFORE))
  if (cut === 0) return { text, matches }
  return {
    text: `…${text.slice(cut + 1)}`,
    matches: matches.map(([from, to]) => [from - cut, to - cut]),
  }
}

/** The text, with the matches highlighted. */
function Marked({ snippet: { text, matches } }: { snippet: Snippet }) {
  const begins = [0, ...matches.map(([, to]) => to)]
  return inOrder(begins, (begin, place) => {
    const [from, to] = matches[place] ?? [text.length, text.length]
    return (
      <>
        {text.slice(begin, from)}
        {to > from ? (
          <mark className="rounded-xs bg-warning-soft font-medium text-warning-ink">
            {text.slice(from, to)}
          </mark>
        ) : null}
      </>
    )
  })
}

async function searchThreads(text: string, spaceId: string | undefined, signal: AbortSignal) {
  const query = new URLSearchParams({ q: text, ...(spaceId !== undefined && { spaceId }) })
  const { results } = await send<SearchResults>("GET", `/api/chat/search?${query}`, { signal })
  return results
}
