import { msg } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { data, href } from "react-router"
import { i18nOf } from "#app/language/i18n.ts"
import { InEnglish } from "#app/features/site/in-english.tsx"
import { Neighbour } from "#app/features/site/neighbour.tsx"
import { breadcrumbs, pageMeta } from "#app/features/site/page-meta.ts"
import { findDocsPage, listDocs } from "#server/docs/pages.ts"
import { DocsFrame } from "./frame.tsx"
import type { Route } from "./+types/page.ts"

export function loader({ params }: Route.LoaderArgs) {
  const page = findDocsPage(params.page)
  if (!page) throw data("There is no such page in the documentation.", { status: 404 })
  return { page, groups: listDocs() }
}

export const meta: Route.MetaFunction = ({ matches, loaderData }) => {
  if (!loaderData) return []
  const { title, description, slug } = loaderData.page
  const path = href("/docs/:page", { page: slug })
  const structuredData = [
    breadcrumbs(matches, [i18nOf(matches)._(msg`Documentation`), "/docs/introduction"], [title, path]),
  ]
  return pageMeta(matches, { title, description, path, structuredData })
}

export default function DocsPage({ loaderData }: Route.ComponentProps) {
  const { page, groups } = loaderData
  return (
    <DocsFrame groups={groups} title={page.title} headings={page.headings}>
      {/* Rendered by us from our own files; HTML in them is escaped. */}
      <InEnglish className="mb-6" />
      <div lang="en" className="prose max-w-2xl" dangerouslySetInnerHTML={{ __html: page.html }} />
      <Neighbours previous={page.previous} next={page.next} />
    </DocsFrame>
  )
}

type Beside = Route.ComponentProps["loaderData"]["page"]["next"]

function Neighbours({ previous, next }: { previous: Beside; next: Beside }) {
  const { t } = useLingui()
  return (
    <nav aria-label={t`Previous and next pages`} className="mt-16 grid max-w-2xl gap-3 sm:grid-cols-2">
      {previous ? (
        <Neighbour
          to={href("/docs/:page", { page: previous.slug })}
          title={previous.title}
          label={t`Before`}
        />
      ) : null}
      {next ? (
        <Neighbour to={href("/docs/:page", { page: next.slug })} title={next.title} label={t`Next`} isAfter />
      ) : null}
    </nav>
  )
}
