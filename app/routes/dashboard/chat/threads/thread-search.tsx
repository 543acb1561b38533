import { plural } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { useEffect, useState } from "react"
import { href, Link } from "react-router"
import type { SearchResult, SearchResults, Snippet } from "#server/chat/contract.ts"
import { send } from "../composer/ask.ts"
import { inOrder } from "../markdown/in-order.tsx"

export function SearchResultList({ sought, onLeave }: { sought: string; onLeave: (() => void) | undefined }) {
  const { t } = useLingui()
  const { results, problem } = useSearch(sought)
  if (problem) {
    return (
      <p role="alert" className="px-2.5 py-2 text-sm text-danger-ink">
        {problem}
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
              to={addressOf(result)}
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

function addressOf({ thread, messageId }: SearchResult) {
  const page = href("/dashboard/chat/:threadId", { threadId: thread._id })
  return messageId ? `${page}#message-${messageId}` : page
}

/** Characters of a snippet before its first match: in a narrow list more of them would push it out of sight. */
const BEFORE = 24

function nearFirst({ text, matches }: Snippet): Snippet {
  const cut = Math.max(0, text.lastIndexOf(" ", (matches[0]?.[0] ?? 0) - BEFORE))
  if (cut === 0) return { text, matches }
  return {
    text: `…${text.slice(cut + 1)}`,
    matches: matches.map(([from, to]) => [from - cut, to - cut]),
  }
}

/** The text, with what was found in it marked. */
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

/** Null until the first answer. What was found before stays until there is more to say. */
function useSearch(sought: string) {
  const { t } = useLingui()
  const [found, setFound] = useState<{ results: SearchResult[] | null; problem: string | null }>({
    results: null,
    problem: null,
  })
  useEffect(() => {
    const gone = new AbortController()
    const look = async () => {
      try {
        const query = new URLSearchParams({ q: sought })
        const { results } = await send<SearchResults>("GET", `/api/chat/search?${query}`, {
          signal: gone.signal,
        })
        setFound({ results, problem: null })
      } catch (problem) {
        if (gone.signal.aborted) return
        setFound({ results: null, problem: problem instanceof Error ? problem.message : t`Try again.` })
      }
    }
    const timer = setTimeout(() => void look(), 150)
    return () => {
      clearTimeout(timer)
      gone.abort()
    }
  }, [sought, t])
  return found
}
