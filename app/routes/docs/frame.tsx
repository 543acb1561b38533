import { Trans, useLingui } from "@lingui/react/macro"
import type { ReactNode } from "react"
import { href, NavLink } from "react-router"
import { Icon } from "#app/ui/icon.tsx"

type Groups = readonly { title: string; pages: readonly { slug: string; title: string }[] }[]

/**
 * The layout of the documentation's pages: search and navigation on the left, the page's own
 * headings on the right.
 */
export function DocsFrame({
  groups,
  title,
  headings,
  question,
  children,
}: {
  groups: Groups
  title: string
  headings?: readonly { id: string; text: string }[]
  /** The search query. */
  question?: string
  children: ReactNode
}) {
  const { t } = useLingui()
  return (
    <div className="mx-auto grid max-w-6xl px-5 sm:px-8 lg:grid-cols-[13rem_minmax(0,1fr)] lg:gap-12 xl:grid-cols-[13rem_minmax(0,1fr)_12rem]">
      <div className="mt-6 grid gap-3 lg:hidden">
        <SearchForm question={question} label={t`Search, small screens`} />
        <details className="group rounded-lg border border-line bg-surface">
          <summary className="flex min-h-12 items-center justify-between px-4 font-medium">
            {title}
            <Icon name="chevron-down" className="text-faint group-open:rotate-180" />
          </summary>
          <DocsNavigation
            groups={groups}
            label={t`Documentation, small screens`}
            className="border-t border-line p-4"
          />
        </details>
      </div>
      <aside className="sticky top-16 -mx-3 hidden h-[calc(100dvh-4rem)] overflow-y-auto px-3 py-12 lg:block">
        <SearchForm question={question} label={t`Search`} />
        <DocsNavigation groups={groups} label={t`Documentation`} className="mt-6" />
      </aside>
      <article className="min-w-0 py-10 lg:py-12">{children}</article>
      {headings?.length ? (
        <nav
          aria-label={t`On this page`}
          className="sticky top-16 hidden h-[calc(100dvh-4rem)] overflow-y-auto py-12 xl:block"
        >
          <p className="text-sm font-medium">
            <Trans>On this page</Trans>
          </p>
          <ul lang="en" className="mt-2 border-l border-line">
            {headings.map(({ id, text }) => (
              <li key={id}>
                <a
                  href={`#${id}`}
                  className="-ml-px block border-l border-transparent py-1 pl-3 text-sm text-muted hover:border-accent hover:text-ink"
                >
                  {text}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      ) : null}
    </div>
  )
}

/** The server searches, so the form needs no JavaScript. */
function SearchForm({ question, label }: { question: string | undefined; label: string }) {
  const { t } = useLingui()
  return (
    <form role="search" aria-label={label} action={href("/docs/search")} className="relative">
      <input
        type="search"
        name="q"
        defaultValue={question}
        maxLength={200}
        required
        aria-label={t`Search the documentation`}
        placeholder={t`Search`}
        className="h-10 w-full rounded-md border border-line-strong bg-surface pr-11 pl-3 text-base placeholder:text-faint md:text-sm touch:h-11"
      />
      <button
        aria-label={t`Search`}
        className="absolute inset-y-0 right-0 grid w-10 place-items-center rounded-md text-faint hover:text-ink touch:w-11"
      >
        <Icon name="search" />
      </button>
    </form>
  )
}

function DocsNavigation({ groups, label, className }: { groups: Groups; label: string; className?: string }) {
  return (
    <nav aria-label={label} className={className}>
      {groups.map(({ title, pages }) => (
        <div key={title} lang="en" className="mb-6 last:mb-0">
          <p className="text-sm font-medium">{title}</p>
          <ul className="mt-1.5">
            {pages.map(({ slug, title: pageTitle }) => (
              <li key={slug}>
                <NavLink
                  to={href("/docs/:page", { page: slug })}
                  className="-mx-2.5 flex min-h-8 items-center rounded-md px-2.5 text-sm text-muted hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent-ink touch:min-h-11"
                >
                  {pageTitle}
                </NavLink>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  )
}
