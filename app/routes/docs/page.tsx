import { data, Link, NavLink } from "react-router"
import { Icon } from "#app/ui/icon.tsx"
import { pageMeta } from "#app/features/site/page-meta.ts"
import { findDocsPage, listDocs } from "#server/docs/pages.ts"
import type { Route } from "./+types/page.ts"

export function loader({ params }: Route.LoaderArgs) {
  const page = findDocsPage(params.page)
  if (!page) throw data("There is no such page in the documentation.", { status: 404 })
  return { page, groups: listDocs() }
}

export const meta: Route.MetaFunction = ({ matches, loaderData }) => {
  if (!loaderData) return []
  const { title, description, slug } = loaderData.page
  return pageMeta(matches, { title, description, path: `/docs/${slug}` })
}

export default function DocsPage({ loaderData }: Route.ComponentProps) {
  const { page, groups } = loaderData
  return (
    <div className="mx-auto grid max-w-6xl px-5 sm:px-8 lg:grid-cols-[13rem_minmax(0,1fr)] lg:gap-12 xl:grid-cols-[13rem_minmax(0,1fr)_12rem]">
      <details className="group mt-6 rounded-lg border border-line bg-surface lg:hidden">
        <summary className="flex min-h-12 items-center justify-between px-4 font-medium">
          {page.title}
          <Icon name="chevron-down" className="text-faint group-open:rotate-180" />
        </summary>
        <DocsNavigation
          groups={groups}
          label="Documentation, on a small screen"
          className="border-t border-line p-4"
        />
      </details>
      <aside className="sticky top-16 -mx-3 hidden h-[calc(100dvh-4rem)] overflow-y-auto px-3 py-12 lg:block">
        <DocsNavigation groups={groups} label="Documentation" />
      </aside>
      <article className="min-w-0 py-10 lg:py-12">
        {/* Rendered by us from our own files; HTML in them is escaped. */}
        <div className="prose max-w-2xl" dangerouslySetInnerHTML={{ __html: page.html }} />
        <Neighbours previous={page.previous} next={page.next} />
      </article>
      <nav
        aria-label="On this page"
        className="sticky top-16 hidden h-[calc(100dvh-4rem)] overflow-y-auto py-12 xl:block"
      >
        <p className="text-sm font-medium">On this page</p>
        <ul className="mt-2 border-l border-line">
          {page.headings.map(({ id, text }) => (
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
    </div>
  )
}

type Groups = Route.ComponentProps["loaderData"]["groups"]
type Neighbour = Route.ComponentProps["loaderData"]["page"]["next"]

function DocsNavigation({ groups, label, className }: { groups: Groups; label: string; className?: string }) {
  return (
    <nav aria-label={label} className={className}>
      {groups.map(({ title, pages }) => (
        <div key={title} className="mb-6 last:mb-0">
          <p className="text-sm font-medium">{title}</p>
          <ul className="mt-1.5">
            {pages.map(({ slug, title: pageTitle }) => (
              <li key={slug}>
                <NavLink
                  to={`/docs/${slug}`}
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

function Neighbours({ previous, next }: { previous: Neighbour; next: Neighbour }) {
  return (
    <nav aria-label="Pages before and after" className="mt-16 grid max-w-2xl gap-3 sm:grid-cols-2">
      {previous ? (
        <Link
          to={`/docs/${previous.slug}`}
          className="rounded-lg border border-line bg-surface p-4 hover:border-line-strong"
        >
          <span className="text-sm text-faint">Before</span>
          <span className="block font-medium">{previous.title}</span>
        </Link>
      ) : null}
      {next ? (
        <Link
          to={`/docs/${next.slug}`}
          className="rounded-lg border border-line bg-surface p-4 hover:border-line-strong sm:col-start-2 sm:text-right"
        >
          <span className="text-sm text-faint">Next</span>
          <span className="block font-medium">{next.title}</span>
        </Link>
      ) : null}
    </nav>
  )
}
